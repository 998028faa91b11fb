// SPDX-License-Identifier: MIT
//
// schema.mjs - checks values against the part of JSON Schema that openapi.json uses. A keyword that
// it does not know is an error: nothing goes unchecked in silence.

const known = new Set(["type", "properties", "required", "items", "enum", "const", "$ref", "additionalProperties", "minimum", "maximum",
	"pattern", "minItems", "maxItems", "minLength", "maxLength", "oneOf", "anyOf", "allOf", "nullable", "description", "example",
	"examples", "format", "title", "default", "readOnly", "uniqueItems"]);

function typeOf(value) {
	if (value === null)
		return "null";
	if (Array.isArray(value))
		return "array";
	if (Number.isInteger(value))
		return "integer";
	return typeof value;
}

export function resolveRef(document, schema) {
	if (!schema.$ref)
		return schema;
	const target = schema.$ref.replace(/^#\//, "").split("/").reduce((node, key) => node?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document);
	if (!target)
		throw new Error(`${schema.$ref} leads nowhere`);
	return resolveRef(document, target);
}

function hasType(value, types) {
	const type = typeOf(value);
	return types.includes(type) || (type === "integer" && types.includes("number"));
}

function checkObject(document, schema, value, path, errors) {
	for (const name of schema.required ?? [])
		if (!(name in value))
			errors.push(`${path}: ${name} is missing`);
	for (const [name, member] of Object.entries(value)) {
		const inner = schema.properties?.[name];
		if (inner)
			check(document, inner, member, `${path}.${name}`, errors);
		else if (typeof schema.additionalProperties === "object")
			check(document, schema.additionalProperties, member, `${path}.${name}`, errors);
		else if (schema.properties && schema.additionalProperties !== true)
			errors.push(`${path}: ${name} is not documented`);
	}
}

function checkCombined(document, schema, value, path, errors) {
	const choices = schema.oneOf ?? schema.anyOf;
	if (!choices)
		return;
	const fitting = choices.filter((choice) => {
		const inner = [];
		check(document, choice, value, path, inner);
		return inner.length === 0;
	});
	if (fitting.length === 0 || (schema.oneOf && fitting.length > 1))
		errors.push(`${path}: fits ${fitting.length} of ${choices.length} choices`);
}

// All properties of an allOf, so that what one part documents is not unknown to the whole.
function mergeAllOf(document, schema) {
	if (!schema.allOf)
		return schema;
	const merged = { ...schema, properties: { ...schema.properties }, required: [...(schema.required ?? [])] };
	delete merged.allOf;
	for (const part of schema.allOf) {
		const inner = mergeAllOf(document, resolveRef(document, part));
		merged.type ??= inner.type;
		Object.assign(merged.properties, inner.properties);
		merged.required.push(...(inner.required ?? []));
	}
	return merged;
}

export function check(document, given, value, path, errors) {
	const schema = mergeAllOf(document, resolveRef(document, given));
	for (const keyword of Object.keys(schema))
		if (!known.has(keyword))
			errors.push(`${path}: schema keyword ${keyword} is not checked`);
	if (value === null && schema.nullable)
		return;
	if (schema.type && !hasType(value, [schema.type].flat()))
		errors.push(`${path}: ${typeOf(value)} where ${schema.type} is documented`);
	if (schema.enum && !schema.enum.includes(value))
		errors.push(`${path}: ${JSON.stringify(value)} is none of ${schema.enum}`);
	if ("const" in schema && schema.const !== value)
		errors.push(`${path}: ${JSON.stringify(value)} is not ${schema.const}`);
	if (typeof value === "number" && (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)))
		errors.push(`${path}: ${value} is out of bounds`);
	if (typeof value === "string" && schema.pattern && !new RegExp(schema.pattern, "u").test(value))
		errors.push(`${path}: ${JSON.stringify(value)} does not match ${schema.pattern}`);
	if (Array.isArray(value) && schema.items)
		value.forEach((item, i) => check(document, schema.items, item, `${path}[${i}]`, errors));
	if (typeOf(value) === "object")
		checkObject(document, schema, value, path, errors);
	checkCombined(document, schema, value, path, errors);
}
