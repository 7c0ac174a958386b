# The CMake package: find_package(hcasim) gives the target hcasim::hca, the card and its host side of the wire.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(hcasim_hca INTERFACE)
add_library(hcasim::hca ALIAS hcasim_hca)
set_target_properties(hcasim_hca PROPERTIES EXPORT_NAME hca)
target_link_libraries(hcasim_hca INTERFACE hcasim_model hcasim_tlm)

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/hcasim")
install(TARGETS hcasim_hca hcasim_ib hcasim_stats hcasim_clock hcasim_model hcasim_tlm EXPORT hcasim_targets ARCHIVE)
install(EXPORT hcasim_targets NAMESPACE hcasim:: DESTINATION "${package_directory}")
# Below include/hcasim the headers find each other by the paths that they have in the source tree.
install(DIRECTORY model tlm DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/hcasim" FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/hcasim_config.cmake.in "${PROJECT_BINARY_DIR}/hcasim-config.cmake"
  INSTALL_DESTINATION "${package_directory}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/hcasim-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/hcasim-config.cmake" "${PROJECT_BINARY_DIR}/hcasim-config-version.cmake"
  DESTINATION "${package_directory}")
