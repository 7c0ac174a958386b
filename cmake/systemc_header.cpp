// Gives the shared precompiled header a target to belong to; see hcasim_targets.cmake.
