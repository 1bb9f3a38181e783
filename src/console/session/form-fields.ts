/** The fields of a question of an MCP server (`requestedSchema`: a flat object of strings, numbers, booleans and choices). Pure. */
import { type JsonRecord, jsonRecordOf } from '../text/json.ts';

export type FormField = {
  name: string;
  title: string;
  description: string;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  choices: readonly { value: string; label: string }[];
  isRequired: boolean;
  initial: unknown;
};

export function fieldsOf(schema: unknown): FormField[] {
  const { properties, required } = jsonRecordOf(schema);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(jsonRecordOf(properties)).map(([name, value]) => {
    const property = jsonRecordOf(value);
    const { title, description, type } = property;
    const isList = type === 'array';
    const choices = choicesOf(isList ? jsonRecordOf(property.items) : property);
    const plain = type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text';
    return {
      name,
      title: typeof title === 'string' && title !== '' ? title : name,
      description: typeof description === 'string' ? description : '',
      kind: isList ? 'choices' : choices.length > 0 ? 'choice' : plain,
      choices,
      isRequired: needed.includes(name),
      initial: property.default,
    };
  });
}

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonRecord): FormField['choices'] {
  const named = [oneOf, anyOf].find((list) => Array.isArray(list));
  if (Array.isArray(named))
    return named.map(jsonRecordOf).map(({ const: value, title }) => ({ value: String(value), label: String(title ?? value) }));
  if (!Array.isArray(values)) return [];
  const labels = Array.isArray(enumNames) ? enumNames : [];
  return values.map((value, index) => ({ value: String(value), label: String(labels[index] ?? value) }));
}

/** Returns the content of an answer, or what is wrong with it. Optional fields without a value are left out. */
export function readFields(fields: readonly FormField[], form: Pick<FormData, 'get' | 'getAll'>): JsonRecord | string {
  const content: [string, unknown][] = [];
  for (const { name, title, kind, isRequired } of fields) {
    if (kind === 'boolean') content.push([name, form.get(name) !== null]);
    else if (kind === 'choices') content.push([name, form.getAll(name).map(String)]);
    else {
      const text = String(form.get(name) ?? '');
      if (text === '' && isRequired) return `${title} is required.`;
      if (text === '') continue;
      const isNumber = kind === 'number' || kind === 'integer';
      if (isNumber && !Number.isFinite(Number(text))) return `${title} must be a number.`;
      content.push([name, isNumber ? Number(text) : text]);
    }
  }
  // From entries: a field may be named `__proto__`.
  return Object.fromEntries(content);
}
