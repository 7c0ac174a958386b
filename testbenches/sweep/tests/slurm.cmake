hcasim_command_test(sweep_slurm LABEL system TIMEOUT 400
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/slurm.sh" "$<TARGET_FILE:hcasim>" "${PROJECT_SOURCE_DIR}/traces" "${CMAKE_CURRENT_BINARY_DIR}/slurm")
