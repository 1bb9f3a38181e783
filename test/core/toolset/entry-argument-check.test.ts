import { describe, expect, it } from 'vitest';
import type { SecretBinding } from '../../../src/core/secrets/secret.ts';
import { compile, knownTools, refusalOf, toolOf } from '../../fakes/known-tools.ts';

const inputSchema = {
  type: 'object',
  properties: {
    method: { type: 'string', enum: ['get_workflow', 'get_job'] },
    resource_id: { type: 'string' },
    per_page: { type: 'integer', minimum: 1 },
    token: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/token' }] },
    filter: { type: 'object', properties: { state: { $ref: '#/properties/method' } } },
  },
  required: ['method', 'resource_id'],
  $defs: { token: { type: 'string' } },
};
const secrets = new Map<string, SecretBinding>([
  ['GH', { hosts: ['api.example.com'] }],
  ['ELSEWHERE', { hosts: ['other.example.com'] }],
  ['BOUND', { hosts: ['api.example.com'], tools: ['github.other'] }],
]);
const known = {
  ...knownTools([
    toolOf('github', 'actions_get', { inputSchema }),
    toolOf('github', 'open', { inputSchema: { type: 'object', properties: { a: {} }, additionalProperties: true } }),
    toolOf('github', 'bare'),
    toolOf('github', 'itself', { inputSchema: { type: 'object', properties: { a: {} }, allOf: [true, { $ref: '#' }] } }),
    toolOf('github', 'closed', { inputSchema: { type: 'object', additionalProperties: false } }),
  ]),
  secret: (name: string) => secrets.get(name),
  host: (server: string) => (server === 'github' ? 'api.example.com:443' : undefined),
};
const faultsOf = async (rules: unknown, tool = 'github.actions_get'): Promise<string[]> => {
  const problem = await refusalOf({ tools: [{ tool, arguments: rules }] }, known);
  expect(problem.code).toBe('invalid_request');
  return (problem.extra.issues as { path: string; message: string }[]).map(({ path, message }) => `${path}: ${message}`);
};

describe('an entry with rules for arguments', () => {
  it('compiles to the shown schema, the tool’s schema and the rules between them', async () => {
    const rules = { preset: { method: 'get_workflow', token: { secret: 'GH' } }, rename: { id: 'resource_id' }, default: { per_page: 20 } };
    const { edition } = await compile({ tools: [{ tool: 'github.actions_get', name: 'get_workflow', arguments: rules }] }, known);
    const [tool] = edition.tools;
    expect(tool).toMatchObject({ arguments: rules, sourceSchema: inputSchema });
    expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(['id', 'per_page', 'filter']);
    expect(tool?.inputSchema.required).toEqual(['id']);
    expect(JSON.stringify(tool?.inputSchema)).not.toContain('token');
  });

  it('has no second schema if nothing changes, and unchanged bytes without rules', async () => {
    const { edition } = await compile(
      { tools: [{ tool: 'github.bare', arguments: { preset: { any: 1 } } }, { tool: 'github.open' }] },
      known,
    );
    expect(edition.tools[0]).toHaveProperty('arguments');
    expect(edition.tools[0]).not.toHaveProperty('sourceSchema');
    expect(edition.tools[0]).not.toHaveProperty('result');
    expect(edition.tools[1]).not.toHaveProperty('arguments');
    expect(edition.tools[1]).not.toHaveProperty('sourceSchema');
  });

  it('drops an outputSchema that picking makes invalid', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const tools = knownTools([toolOf('s', 't', { outputSchema })]);
    const { edition, warnings } = await compile({ tools: [{ tool: 's.t', result: { pick: ['/a', '/b'] } }] }, tools);
    expect(edition.tools[0]).not.toHaveProperty('outputSchema');
    expect(warnings).toEqual(['tools[0].result.pick[1]: "/b" is not in the tool\'s outputSchema']);
  });
});

describe('an error in the rules is reported at its path:', () => {
  it('names an unknown argument, and similar ones', async () => {
    expect(await faultsOf({ preset: { methd: 'x' }, default: { zzz: 1 }, rename: { id: 'resourceid' } })).toEqual([
      'tools[0].arguments.preset.methd: github.actions_get has no argument "methd"; did you mean method?',
      'tools[0].arguments.default.zzz: github.actions_get has no argument "zzz"',
      'tools[0].arguments.rename.id: github.actions_get has no argument "resourceid"; did you mean resource_id?',
    ]);
    expect(await faultsOf({ preset: { a: 1 } }, 'github.closed')).toHaveLength(1);
    expect(await faultsOf({ preset: { a: 1, b: 1 } }, 'github.itself')).toEqual([
      'tools[0].arguments.preset.b: github.itself has no argument "b"',
    ]);
  });

  it('a preset or default that does not match the schema', async () => {
    expect(await faultsOf({ preset: { method: 'delete', filter: { state: 'x' } }, default: { per_page: 0 } })).toEqual([
      expect.stringContaining('tools[0].arguments.preset.method: expected one of "get_workflow", "get_job"'),
      expect.stringContaining('tools[0].arguments.preset.filter.state: expected one of'),
      'tools[0].arguments.default.per_page: expected at least 1, received 0',
    ]);
  });

  it('names that conflict', async () => {
    expect(
      await faultsOf({
        preset: { method: 'get_job' },
        default: { method: 'get_job' },
        rename: { verb: 'method', per_page: 'resource_id', rid: 'resource_id' },
      }),
    ).toEqual([
      expect.stringContaining('tools[0].arguments.rename.verb: method is preset'),
      expect.stringContaining('tools[0].arguments.rename.per_page: the tool already has an argument per_page'),
      expect.stringContaining('tools[0].arguments.rename.rid: resource_id is already shown as per_page'),
      expect.stringContaining('tools[0].arguments.default.method: method is preset'),
    ]);
    expect(await faultsOf({ preset: { a: 1 }, rename: { a: 'b' } }, 'github.bare')).toHaveLength(1);
  });

  it('a secret that is unknown, bound elsewhere, or not accepted by the argument', async () => {
    expect(await faultsOf({ preset: { token: { secret: 'NONE' } } })).toEqual([
      'tools[0].arguments.preset.token: there is no secret "NONE"',
    ]);
    expect(await faultsOf({ preset: { token: { secret: 'ELSEWHERE' } } })).toEqual([
      expect.stringContaining('tools[0].arguments.preset.token: the secret "ELSEWHERE" may not be used here: it is not bound to the host'),
    ]);
    expect(await faultsOf({ preset: { token: { secret: 'BOUND' } } })).toEqual([expect.stringContaining('not bound to the tool')]);
    expect(await faultsOf({ preset: { per_page: { secret: 'GH' }, filter: { caller: 'team' } } })).toEqual([
      'tools[0].arguments.preset.per_page: a secret is text, but per_page does not accept text',
      'tools[0].arguments.preset.filter: a caller field is text, but filter does not accept text',
    ]);
  });

  it('says nothing about endlessly recursive types, which the call checks', async () => {
    const twice = { anyOf: [{ $ref: '#/$defs/twice' }, { $ref: '#/$defs/twice' }, { type: 'integer' }] };
    const endless = knownTools([toolOf('s', 't', { inputSchema: { type: 'object', properties: { a: twice }, $defs: { twice } } })]);
    const { edition } = await compile({ tools: [{ tool: 's.t', arguments: { preset: { a: { secret: 'GH' } } } }] }, endless);
    expect(edition.tools).toHaveLength(1);
  });

  it('names a reference that has no name', async () => {
    expect(await faultsOf({ preset: { any: { secret: 5 } } }, 'github.open')).toEqual([
      expect.stringContaining('tools[0].arguments.preset.any.secret: must be a name'),
    ]);
  });
});
