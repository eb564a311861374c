"""Verdicts from a language model: asked many at a time, checked, kept, and missing when they could not be had."""
