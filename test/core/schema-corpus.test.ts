import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SchemaDialect } from '../../src/core/model/provider-profile.ts';
import { compileSchema } from '../../src/core/schema/schema-compiler.ts';
import type { JsonSchema } from '../../src/core/tools/tool.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { schemaFaults } from './schema-rules.ts';
import { printStatistics } from '../statistics.ts';

describeCorpus('mcp-tools', (path) => {
  const tools = readdirSync(path)
    .filter((file) => file !== 'index.json')
    .flatMap((file) =>
      readJson<{ name: string; inputSchema: JsonSchema }[]>(`${path}/${file}`).map((tool) => ({ ...tool, name: `${file}: ${tool.name}` })),
    );

  it.each(SchemaDialect.options)('compiles every public tool to a schema that %s accepts, and reports every change', (dialect) => {
    const faults: string[] = [];
    let unchanged = 0;
    for (const { name, inputSchema } of tools) {
      const before = JSON.stringify(inputSchema);
      const result = compileSchema(inputSchema, dialect);
      expect(JSON.stringify(inputSchema)).toBe(before);
      if (!result.ok) {
        faults.push(`${name} ${result.fault}`);
        continue;
      }
      faults.push(...schemaFaults(result.schema, dialect).map((fault) => `${name} ${fault}`));
      const isSame = result.schema === inputSchema;
      if (isSame) unchanged += 1;
      if (isSame !== (result.changes.length === 0)) faults.push(`${name}: changed and not told, or told and not changed`);
      if (!isSame && JSON.stringify(result.schema) === before) faults.push(`${name}: a copy of what was not changed`);
    }
    expect(faults).toEqual([]);
    expect(tools.length).toBe(1472);
    printStatistics(
      `schemas for ${dialect}: ${tools.length} tools, ${unchanged} sent as they are, ${tools.length - unchanged} changed and told`,
    );
  });
});
