/** Arguments of a test call, as a form and as JSON: the JSON text is what is sent, and the form shows and changes its members. Pure. */
import { fieldsOf, type FormField } from '../../session/form-fields.ts';
import { type JsonRecord, jsonRecordOf } from '../../text/json.ts';

/** The arguments that a form can show: strings, numbers, booleans and choices. Others are written as JSON. */
export function argumentFields(definition: unknown): FormField[] {
  const schema = parametersOf(definition);
  const properties = jsonRecordOf(schema.properties);
  return fieldsOf(schema).filter(({ name, kind }) => kind !== 'choices' && (kind !== 'text' || isText(jsonRecordOf(properties[name]))));
}

/** The schema of the arguments in a definition, wherever the provider has it. */
function parametersOf(definition: unknown): JsonRecord {
  const { function: nested, parameters, parametersJsonSchema, input_schema: inputSchema } = jsonRecordOf(definition);
  if (nested !== undefined) return parametersOf(nested);
  return jsonRecordOf(parameters ?? parametersJsonSchema ?? inputSchema);
}

function isText({ type, enum: choices }: JsonRecord): boolean {
  const types = (Array.isArray(type) ? type : [type]).map((one) => String(one).toLowerCase());
  return types.includes('string') || choices !== undefined;
}

/** An empty field of an optional argument is left out. */
export function withArgumentText(values: JsonRecord, { name, kind, isRequired }: FormField, typed: string | boolean): string {
  const isNumber = (kind === 'number' || kind === 'integer') && typed !== '' && Number.isFinite(Number(typed));
  const entries = Object.entries(values).filter(([other]) => other !== name);
  const isLeftOut = !isRequired && (typed === '' || typed === false);
  return JSON.stringify(Object.fromEntries(isLeftOut ? entries : [...entries, [name, isNumber ? Number(typed) : typed]]), null, 2);
}
