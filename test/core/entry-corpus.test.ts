/** Rules for arguments over the definitions of real servers: each argument hidden, renamed and given a default in turn. */
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkEntryArguments } from '../../src/core/toolset/arguments/check-arguments.ts';
import { EntryArguments } from '../../src/core/toolset/toolset.ts';
import { resolvePointer } from '../../src/core/schema/schema-references.ts';
import { toStrictSchema } from '../../src/core/toolset/arguments/strict-schema.ts';
import type { JsonSchema } from '../../src/core/tools/tool.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { knownTools, toolOf } from '../fakes/known-tools.ts';
import { isRecord } from '../../src/core/json/wire-value.ts';
import { printStatistics } from '../statistics.ts';

function* referencesIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  if (isRecord(part) && typeof part.$ref === 'string') yield part.$ref;
  for (const member of Object.values(part)) yield* referencesIn(member);
}

function lostReferences(schema: JsonSchema): string[] {
  return [...referencesIn(schema)].filter((reference) => reference.startsWith('#') && resolvePointer(schema, reference) === undefined);
}

describeCorpus('mcp-tools', (path) => {
  const schemas = readdirSync(path)
    .filter((file) => file !== 'index.json')
    .flatMap((file) => readJson<{ name: string; inputSchema: JsonSchema }[]>(`${path}/${file}`).map((tool) => ({ ...tool, file })));

  it('shows every argument of every tool hidden, renamed or optional, and loses no reference', () => {
    const faults: string[] = [];
    let rules = 0;
    for (const { file, name, inputSchema } of schemas) {
      const before = JSON.stringify(inputSchema);
      const lost = lostReferences(inputSchema).length;
      for (const argument of Object.keys(isRecord(inputSchema.properties) ? inputSchema.properties : {})) {
        const views = {
          hidden: toStrictSchema(inputSchema, EntryArguments.parse({ preset: { [argument]: { caller: 'team' } } })),
          renamed: toStrictSchema(inputSchema, EntryArguments.parse({ rename: { 'shown as': argument } })),
          optional: toStrictSchema(inputSchema, EntryArguments.parse({ default: { [argument]: 1 } })),
        };
        rules += 3;
        const known = (view: JsonSchema): string[] => Object.keys(isRecord(view.properties) ? view.properties : {});
        const needed = (view: JsonSchema): unknown[] => (Array.isArray(view.required) ? view.required : []);
        const at = `${file} ${name} ${argument}`;
        if ([...known(views.hidden), ...needed(views.hidden)].includes(argument)) faults.push(`${at}: is shown`);
        if (known(views.renamed).indexOf('shown as') !== known(inputSchema).indexOf(argument))
          faults.push(`${at}: is not renamed in its place`);
        if (needed(views.optional).includes(argument)) faults.push(`${at}: is asked for`);
        for (const [kind, view] of Object.entries(views))
          if (lostReferences(view).length > lost) faults.push(`${at}: ${kind}, a reference is lost`);
      }
      if (JSON.stringify(inputSchema) !== before) faults.push(`${file} ${name}: its definition was changed`);
    }
    expect(faults).toEqual([]);
    expect(schemas.length).toBe(1472);
    printStatistics(`rules for arguments: ${rules} over ${schemas.length} tools`);
  });

  it('accepts defaults that the tools declare themselves', () => {
    const faults = schemas.flatMap(({ file, name, inputSchema }) => {
      const own = Object.entries(isRecord(inputSchema.properties) ? inputSchema.properties : {}).flatMap(([argument, part]) =>
        isRecord(part) && part.default !== undefined ? [[argument, part.default] as const] : [],
      );
      const rules = EntryArguments.parse({ default: Object.fromEntries(own) });
      const found = checkEntryArguments(
        { source: { arguments: rules }, definition: toolOf('s', 'tool', { inputSchema }), path: 'tools[0]' },
        knownTools([]),
      );
      return found.map(({ path: place, message }) => `${file} ${name} ${place}: ${message}`);
    });
    expect(faults).toEqual([]);
  });
});
