# Requests to responses, and who may ask. Included by CMakeLists.txt.
pkg_check_modules(HTTP_CJSON REQUIRED IMPORTED_TARGET libcjson)

add_library(model_fixture STATIC model_fixture.c)
target_link_libraries(model_fixture PUBLIC heaptap_options heaptap_sanitize)

add_library(schema_check STATIC schema_check.c)
target_link_libraries(schema_check PUBLIC heaptap_options heaptap_sanitize
	PRIVATE PkgConfig::HTTP_CJSON m)

foreach(module buf request view routes encode_json assets access openapi place)
	heaptap_unit_test(${module} heaptap_routes model_fixture schema_check)
endforeach()
target_compile_definitions(test_encode_json PRIVATE
	GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/golden")
target_sources(test_access PRIVATE ${CMAKE_SOURCE_DIR}/dashboard/peer.c)
target_link_libraries(test_openapi PRIVATE PkgConfig::HTTP_CJSON m)

# Measures, does not judge; run by hand.
add_executable(measure_routes measure_routes.c)
target_link_libraries(measure_routes PRIVATE heaptap_routes)
