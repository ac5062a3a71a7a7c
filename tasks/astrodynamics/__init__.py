"""Interplanetary tours with gravity assists and impulsive manoeuvres, minimising total delta-v."""
