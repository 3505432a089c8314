"""The doctor: what is wrong with an assistant and its configuration, before money is spent."""
