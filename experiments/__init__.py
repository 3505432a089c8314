"""How a person runs it: the command line, configuration, MLflow tracking and reports."""
