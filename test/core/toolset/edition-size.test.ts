import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

/** Four letters, different for each. */
function word(index: number): string {
  return Array.from({ length: 4 }, (_, place) => String.fromCharCode(97 + (Math.floor(index / 26 ** place) % 26))).join('');
}

describe('an edition’s size', () => {
  const description = 'd'.repeat(90_000);
  const known = knownTools(
    Array.from({ length: 1000 }, (_, index) => toolOf('big', `tool_${word(index)}`, index < 10 ? { description } : {})),
  );
  const entries = (count: number, mode: string) =>
    Array.from({ length: 10 }, (_, tool) => ({
      tool: `big.tool_${word(tool)}`,
      name: `t${word(tool)}`,
      aliases: Array.from({ length: count }, (_, alias) => ({ name: `a${word(tool * 100 + alias)}`, mode })),
    }));

  it('counts a definition once for each name it is sent under', async () => {
    expect((await compile({ tools: entries(10, 'function') }, known)).edition.tools).toHaveLength(10);
    expect((await compile({ tools: entries(12, 'announced') }, known)).edition.tools).toHaveLength(10);
    const refusal = await refusalOf({ tools: entries(12, 'function') }, known);
    expect(refusal.code).toBe('invalid_request');
    expect(refusal.detail).toMatch(/^tools: with all definitions, one for each function alias, .* give fewer aliases the mode "function"/);
  });

  it('does not count a function alias that is the wire name', async () => {
    const tools = entries(10, 'function').map((entry) => ({
      ...entry,
      aliases: [...entry.aliases, { name: entry.name, mode: 'function' }],
    }));
    expect((await compile({ tools }, known)).edition.tools).toHaveLength(10);
  });

  it('does not include conflicts, of which the first thousand are listed', async () => {
    const aliases = Array.from({ length: limits.maxAliasesPerEntry }, (_, alias) => `a${word(alias)}`);
    const tools = Array.from({ length: 100 }, (_, tool) => ({ tool: `big.tool_${word(tool)}`, name: `t${word(tool)}`, aliases }));
    const { code, detail, extra } = await refusalOf({ tools }, known);
    expect(code).toBe('name_conflict');
    expect(extra.conflicts).toHaveLength(limits.maxReportedIssues);
    expect(detail).toMatch(/And 3163 more\.$/);
  });
});
