"""Rubrics that come with cotune, as data: one YAML file each."""
