/** Parses the text of an OpenAPI document: JSON, or YAML 1.2 with JSON types. `core/openapi/document.ts` checks its content. */
import { documentFault } from '../../core/openapi/document.ts';
import { limits } from '../../core/limits.ts';
import type { Problem } from '../../core/problem.ts';
import { tryParse } from '../../core/json/wire-value.ts';
import { readYaml } from '../../platform/yaml/read-yaml.ts';
import { YamlFault } from '../../platform/yaml/yaml-fault.ts';

/**
 * An OpenAPI document in YAML: its commas, colons, brackets and line ends, each of which may cost 200 bytes; large public documents
 * of 5 MB have some 300,000.
 */
export const maxOpenApiYamlSeparators = 400_000;

/** Throws `upstream_error` if the text is neither JSON nor YAML. */
export function parseOpenApiText(text: string): unknown {
  // A byte order mark is not part of JSON (RFC 8259 §8.1).
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') throw documentFault('is empty');
  if (bare.startsWith('<')) throw documentFault('is a page of HTML or XML, not JSON or YAML. Use the URL of the document itself');
  const value = bare.startsWith('{') || bare.startsWith('[') ? tryParse(bare) : undefined;
  return value === undefined ? parseYaml(bare) : value;
}

function parseYaml(text: string): unknown {
  try {
    return readYaml(text, {
      maxDepth: limits.maxOpenApiDepth,
      maxSeparators: maxOpenApiYamlSeparators,
      maxAliased: limits.maxOpenApiBytes,
    });
  } catch (error) {
    throw error instanceof YamlFault ? toProblem(error) : error;
  }
}

function toProblem({ kind, message, place }: YamlFault): Problem {
  const where = place === null ? '' : ` at line ${place.line}, column ${place.column}`;
  switch (kind) {
    case 'depth':
      return documentFault(`is nested too deeply (maximum: ${limits.maxOpenApiDepth} levels)`);
    case 'parts':
      return documentFault('has too many values for a YAML document. Convert it to JSON');
    case 'aliases':
      return documentFault(`cannot be read: ${message}${where}. Write them out, or use $ref`);
    case 'syntax':
      return documentFault(`is neither JSON nor YAML: ${message}${where}`);
  }
}
