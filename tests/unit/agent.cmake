# The agent's core, without its hooks.
foreach(module config record)
	heaptap_unit_test(${module} heaptap_agent_core heaptap_data)
	target_include_directories(test_${module} PRIVATE ${CMAKE_SOURCE_DIR})
endforeach()
# A row's mutex is held by a thread that has ended when it is set up for the next one; the kernel has
# released it.
set_tests_properties(unit.record PROPERTIES ENVIRONMENT TSAN_OPTIONS=report_destroy_locked=0)
