/* SPDX-License-Identifier: MIT */
/* The API's description, byte for byte; OPENAPI_JSON is its path. */
	.section .rodata
	.global openapi_json
	.hidden openapi_json
	.global openapi_json_end
	.hidden openapi_json_end
openapi_json:
	.incbin OPENAPI_JSON
openapi_json_end:
	.byte 0
	.section .note.GNU-stack,"",%progbits
