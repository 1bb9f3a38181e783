/**
 * The text of an OpenAPI document as data: JSON, or YAML 1.2 with its JSON types. Only the notations are known here; what must be in it
 * is `core/openapi/document.ts`.
 */
import { parseDocument } from 'yaml';
import { fault } from '../../core/openapi/document.ts';
import { limits } from '../../core/limits.ts';
import { tryParse } from '../../core/wire-value.ts';

/** Throws `upstream_error` for what is neither. */
export function parseOpenApiText(text: string): unknown {
  // A byte order mark is no part of JSON (RFC 8259 §8.1).
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') throw fault('is empty');
  if (bare.startsWith('<')) throw fault('is a page of HTML or XML, not JSON or YAML. Give the address of the document itself');
  const value = bare.startsWith('{') || bare.startsWith('[') ? tryParse(bare) : undefined;
  return value === undefined ? parseYaml(bare) : value;
}

function parseYaml(text: string): unknown {
  if (text.length > limits.maxOpenApiYamlBytes) {
    throw fault(`has ${text.length} characters of YAML; at most ${limits.maxOpenApiYamlBytes} are read. Convert it to JSON`);
  }
  try {
    // The library's own look for doubled keys compares each with each.
    const document = parseDocument(text, { version: '1.2', schema: 'core', stringKeys: true, uniqueKeys: false, logLevel: 'silent' });
    const [error] = document.errors;
    if (error !== undefined) throw fault(`is neither JSON nor YAML: ${(error.message.split('\n', 1)[0] ?? '').replace(/[.:]$/, '')}`);
    // Aliases share what they stand for; how much it is written out is counted by who walks it (`limits.maxOpenApiParts`).
    return document.toJS({ maxAliasCount });
  } catch (error) {
    if (error instanceof ReferenceError) throw fault('uses more aliases (*name) of YAML than are read. Write them out, or use $ref');
    if (error instanceof RangeError) throw fault('is nested too deeply');
    throw error;
  }
}

/** How much aliases of aliases may multiply: the library's own default. */
const maxAliasCount = 100;
