/**
 * The text of an OpenAPI document as data: JSON, or YAML 1.2 with its JSON types. Only the notations are known here; what must be in it
 * is `core/openapi/document.ts`.
 */
import { fault } from '../../core/openapi/document.ts';
import { limits } from '../../core/limits.ts';
import type { Problem } from '../../core/problem.ts';
import { tryParse } from '../../core/wire-value.ts';
import { readYaml } from '../../platform/yaml/read-yaml.ts';
import { YamlFault } from '../../platform/yaml/yaml-fault.ts';

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
  try {
    return readYaml(text, {
      maxDepth: limits.maxOpenApiDepth,
      maxSeparators: limits.maxOpenApiYamlSeparators,
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
      return fault(`is nested too deeply: at most ${limits.maxOpenApiDepth} levels are read`);
    case 'parts':
      return fault('has more values than are read of YAML. Convert it to JSON');
    case 'aliases':
      return fault(`cannot be read: ${message}${where}. Write them out, or use $ref`);
    case 'syntax':
      return fault(`is neither JSON nor YAML: ${message}${where}`);
  }
}
