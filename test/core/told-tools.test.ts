import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import { type OfferedName, offeredTools } from '../../src/core/turn/offered-tools.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';
import { describeCorpus, readJson } from '../fixtures.ts';

async function told(
  tools: readonly ToolDefinition[],
  names: Record<string, unknown>,
  more: object = {},
): Promise<Map<string, OfferedName>> {
  const entries = tools.map(({ canonical }) => ({ tool: canonical, aliases: [], ...(names[canonical] as object) }));
  const { edition } = await compile({ tools: entries, ...more }, knownTools(tools));
  return new Map(offeredTools(buildAliasMap(edition, { aliases: true })).map((offered) => [offered.name, offered]));
}

// As in descriptions of the public corpus: the step before, the step after, and what to use instead.
const slides = [
  toolOf('deck', 'delete_slide', {
    description: 'Removes a slide.\n1. Call `delete_slide`\n2. Put an empty one there with `insert_slide`.',
  }),
  toolOf('deck', 'insert_slide', { description: 'Inserts a slide. See also ``replace_theme``.' }),
  toolOf('deck', 'list_themes', {
    description: 'Lists themes.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'As `replace_theme` takes it.' },
        delete_slide: { type: 'boolean', description: 'With `delete_slide` the first slide goes.' },
        at: { anyOf: [{ type: 'string', description: 'What insert_slide gave back' }, { $ref: '#/$defs/place' }] },
      },
      $defs: { place: { type: 'integer', description: 'Number, as `insert_slide` counts', default: 0 } },
    },
  }),
  toolOf('deck', 'replace_theme', {
    description: 'Replaces the theme.',
    inputSchema: {
      type: 'object',
      properties: {
        description: { type: 'string', default: '`insert_slide`', enum: ['`insert_slide`', 'x'] },
        example: { const: { description: '`insert_slide`' } },
      },
      examples: [{ description: '`insert_slide`' }],
    },
  }),
];
const renamed = {
  'deck.delete_slide': { name: 'drop' },
  'deck.insert_slide': { name: 'add_slide' },
  'deck.replace_theme': { name: 'retheme' },
};

describe('a definition as sent to models', () => {
  it('uses the current names of other tools and of itself', async () => {
    const tools = await told(slides, renamed);
    expect(tools.get('drop')?.description).toBe('Removes a slide.\n1. Call `drop`\n2. Put an empty one there with `add_slide`.');
    expect(tools.get('add_slide')?.description).toBe('Inserts a slide. See also ``retheme``.');
  });

  it('uses them in parameter descriptions at any depth, and lists other names below its own description', async () => {
    const { description, inputSchema } = (await told(slides, renamed)).get('list_themes') ?? {};
    expect(inputSchema).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'As `retheme` takes it.' },
        delete_slide: { type: 'boolean', description: 'With `delete_slide` the first slide goes.' },
        at: { anyOf: [{ type: 'string', description: 'What insert_slide gave back' }, { $ref: '#/$defs/place' }] },
      },
      $defs: { place: { type: 'integer', description: 'Number, as `add_slide` counts', default: 0 } },
    });
    expect(Object.keys(inputSchema?.properties as object)).toEqual(['name', 'delete_slide', 'at']);
    expect(description).toBe('Lists themes.\n\nNames used here: `insert_slide` is `add_slide`.');
  });

  it('is the same object if nothing is named, and ignores data in a schema', async () => {
    const [, , , theme] = slides;
    expect((await told(slides, renamed)).get('retheme')?.inputSchema).toBe(theme?.inputSchema);
  });

  it('uses current names in overrides and notes', async () => {
    const tools = await told(slides, {
      ...renamed,
      'deck.list_themes': {
        description: 'Before `replace_theme`, list.',
        notes: [{ name: 'then', note: 'Call `deck.replace_theme`, or `insert_slide`.' }],
      },
    });
    expect(tools.get('list_themes')?.description).toBe(
      'Before `retheme`, list.\n\n### Additional tool notes\n- then: Call `retheme`, or `add_slide`.\n\nNames used here: `insert_slide` is `add_slide`.',
    );
  });

  it('has the line of names above the announced aliases', async () => {
    const tools = await told(
      slides,
      { ...renamed, 'deck.list_themes': { aliases: [{ name: 'themes', mode: 'announced' }], name: 'show_themes' } },
      { announce: 'description' },
    );
    expect(tools.get('show_themes')?.description).toBe(
      'Lists themes.\n\nNames used here: `insert_slide` is `add_slide`.\nAlias: themes (maps to deck.list_themes)',
    );
  });

  it('is unchanged if no tool has another name', async () => {
    const tools = await told(slides, {});
    for (const { canonical, ownName, description, inputSchema } of [...tools.values()].map(({ tool, ...rest }) => ({ ...tool, ...rest }))) {
      const definition = slides.find((slide) => slide.canonical === canonical);
      expect([ownName, description]).toEqual([definition?.name, definition?.description]);
      expect(inputSchema).toBe(definition?.inputSchema);
    }
  });
});

describeCorpus('mcp-tools', (path) => {
  const listed = readdirSync(path)
    .filter((file) => file.endsWith('.json') && file !== 'index.json')
    .flatMap((file) =>
      readJson<{ name: string; description?: string; inputSchema: ToolDefinition['inputSchema'] }[]>(join(path, file)).map((tool) => ({
        server: file.slice(0, -5),
        ...tool,
      })),
    );

  it('lists every old name that is left in inline code', async () => {
    const servers = Map.groupBy(listed, ({ server }) => server);
    let changed = 0;
    for (const [server, tools] of servers) {
      const definitions = tools.map(({ name, description = '', inputSchema }) => toolOf(server, name, { description, inputSchema }));
      const names = Object.fromEntries(definitions.map(({ canonical }, index) => [canonical, { name: `renamed_${index}` }]));
      const own = new Set(tools.map(({ name }) => name));
      for (const { description, inputSchema, tool } of (await told(definitions, names)).values()) {
        const parameters = new Set(Object.keys((inputSchema.properties as object | undefined) ?? {}));
        const [text = '', line = ''] = description.split('\n\nNames used here: ');
        // One server does not close its inline code, so that the text between two looks like code.
        const code = `${text}${JSON.stringify(inputSchema)}`.matchAll(/(?<!`)(`{1,2})([A-Za-z0-9_.-]+)\1(?!`)/g);
        const left = [...code].map(([, , name = '']) => name).filter((name) => own.has(name) && !parameters.has(name));
        expect(left.filter((name) => !line.includes(`\`${name}\` is `))).toEqual([]);
        if (description !== tool.description || inputSchema !== tool.inputSchema) changed++;
      }
    }
    expect(changed).toBeGreaterThan(50);
  });
});
