"""Importers: logged conversations of other systems become trajectories, one file per format."""
