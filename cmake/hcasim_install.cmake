# The CMake package: find_package(hcasim) gives the target hcasim::hca.
