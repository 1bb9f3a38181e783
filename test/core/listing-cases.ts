/** Rows of `security/tool-metadata.json`, built: a long or deep part is written there as a recipe. */

import type { ListedDefinition } from '../../src/core/listing/listing.ts';

type Json = Record<string, unknown>;
export type MetadataRow = { id: string; class: string; tool: Json; expect: { findings: string[]; action: string }; why: string };

/** The expected verdict for each action of the fixture. */
export const verdicts: Record<string, ListedDefinition['verdict']> = {
  offer: 'offer',
  'offer-safely': 'offer',
  'strip-and-flag': 'offer',
  'truncate-and-flag': 'offer',
  'no-fetch': 'offer',
  'confirm-anyway': 'offer',
  namespace: 'offer',
  'ignore-pattern-or-linear-engine': 'offer',
  'hold-for-approval': 'hold',
  refuse: 'refuse',
  'drop-this-tool': 'refuse',
  'first-wins-and-flag': 'refuse',
};

/** The listing of a row: one tool, or the two of a pair. */
export function listingOf({ tool }: MetadataRow): Json[] {
  if (Array.isArray(tool.pair)) return tool.pair as Json[];
  const { generate } = (tool.inputSchema ?? {}) as { generate?: Record<string, number> };
  return [{ ...tool, ...(generate !== undefined && { inputSchema: schemaOf(generate) }) }];
}

function schemaOf(generate: Record<string, number>): Json {
  if (generate.nestProperties !== undefined) return nested(generate.nestProperties);
  if (generate.properties !== undefined) {
    const names = Array.from({ length: generate.properties }, (_, index) => `p${index}`);
    return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  }
  if (generate.allOfDoubling !== undefined) return doubling(generate.allOfDoubling);
  throw new Error(`An unknown recipe: ${Object.keys(generate)}`);
}

function nested(levels: number): Json {
  let schema: Json = { type: 'object' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

/** Each definition refers twice to the next. */
function doubling(times: number): Json {
  const definitions: Json = { [`d${times}`]: { type: 'string' } };
  for (let index = 0; index < times; index += 1) {
    const next = { $ref: `#/$defs/d${index + 1}` };
    definitions[`d${index}`] = { allOf: [next, { ...next }] };
  }
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: definitions };
}
