import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';

const entry = { tool: 'builtin.bash' };
const faults = (document: unknown): string[] => Toolset.safeParse(document).error?.issues.map((issue) => issue.path.join('.')) ?? [];

describe('Toolset', () => {
  it('announces in the prompt by default, and treats an alias without a mode as announced', () => {
    const toolset = Toolset.parse({ tools: [{ ...entry, aliases: ['sh', { name: 'shell' }] }] });
    expect(toolset.announce).toBe('prompt');
    expect(toolset.tools[0]?.aliases).toEqual(['sh', { name: 'shell', mode: 'announced' }]);
  });

  it.each([
    ['an unknown field', { tools: [entry], extra: 1 }, ''],
    ['an unknown field of an entry', { tools: [{ ...entry, alias: 'x' }] }, 'tools.0'],
    ['__proto__ as a field', JSON.parse('{"tools":[{"tool":"builtin.bash"}],"__proto__":{"polluted":1}}'), ''],
    ['no tools', { tools: [] }, 'tools'],
    ['too many tools', { tools: Array.from({ length: limits.maxToolsetEntries + 1 }, () => entry) }, 'tools'],
    ['too many aliases', { tools: [{ ...entry, aliases: Array.from({ length: 33 }, (_, index) => `a${index}`) }] }, 'tools.0.aliases'],
    ['a description over 2 kB', { tools: [{ ...entry, description: 'x'.repeat(2049) }] }, 'tools.0.description'],
    ['a description over 2 kB in bytes', { tools: [{ ...entry, description: '€'.repeat(700) }] }, 'tools.0.description'],
    ['an unknown way to announce', { tools: [entry], announce: 'loudly' }, 'announce'],
    ['a number for a tool', { tools: [{ tool: 1 }] }, 'tools.0.tool'],
    ['an empty note', { tools: [{ ...entry, notes: [{ name: 'when', note: '' }] }] }, 'tools.0.notes.0.note'],
    ['a name that is no toolset name', { name: '--', tools: [entry] }, 'name'],
  ])('refuses %s', (_what, document, path) => {
    expect(faults(document)).toContain(path);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('accepts a description of exactly 2 kB', () => {
    expect(faults({ description: '€'.repeat(682), tools: [entry] })).toEqual([]);
  });
});
