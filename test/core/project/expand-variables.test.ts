import { describe, expect, it } from 'vitest';
import { escapeVariables, expandVariables, placeholder, settleVariables } from '../../../src/core/project/expand-variables.ts';

const [token, host] = [placeholder('TOKEN'), placeholder('HOST:-mcp.example.com')];

describe('variables of a project file', () => {
  it('are expanded in configuration, and nowhere else', () => {
    const instructions = `Print ${placeholder('HOME')}.`;
    const project = {
      secrets: { TOKEN: { value: `Bearer ${token}` } },
      servers: { docs: { kind: 'mcp', url: `https://${host}/mcp`, args: [token, '$TOKEN'] } },
      agents: { helper: { model: placeholder('MODEL:-rehearsal/default'), instructions } },
    };
    expect(expandVariables(project, { TOKEN: 'abc', MODEL: '' })).toEqual({
      issues: [],
      project: {
        secrets: { TOKEN: { value: 'Bearer abc' } },
        servers: { docs: { kind: 'mcp', url: 'https://mcp.example.com/mcp', args: ['abc', '$TOKEN'] } },
        agents: { helper: { model: 'rehearsal/default', instructions } },
      },
    });
  });

  it('are reported with their name and place when they are not set', () => {
    const { issues } = expandVariables({ servers: { fs: { env: { KEY: token, OTHER: [placeholder('constructor')] } } } }, {});
    expect(issues.map(({ path }) => path)).toEqual(['servers.fs.env.KEY', 'servers.fs.env.OTHER[0]']);
    expect(issues[0]?.message).toBe(`the environment variable TOKEN is not set: set it, or write ${placeholder('TOKEN:-default')}`);
  });

  it('are literal text after an escape, also when a value contains one', () => {
    const { project } = expandVariables({ servers: { fs: { args: [`$${token}`, token] } } }, { TOKEN: placeholder('X') });
    expect(project).toEqual({ servers: { fs: { args: [`$${token}`, `$${placeholder('X')}`] } } });
    expect(settleVariables(project).project).toEqual({ servers: { fs: { args: [token, placeholder('X')] } } });
    expect(escapeVariables(`a ${token} $b`)).toBe(`a $${token} $b`);
  });

  it('leave a secret without a value, and are errors elsewhere, when the service receives them', () => {
    const settled = settleVariables({
      secrets: { 'A.TOKEN': { value: `Bearer ${token}`, hosts: ['a.example'] } },
      webhooks: { triage: { secret: [token, token], scheme: 'github' } },
      servers: { a: { url: host } },
    });
    expect(settled.unset.map(({ path, document }) => [path, document])).toEqual([
      ['secrets.A.TOKEN.value', 'secrets.A.TOKEN'],
      ['webhooks.triage.secret[0]', 'webhooks.triage'],
      ['webhooks.triage.secret[1]', 'webhooks.triage'],
    ]);
    expect(settled.project).toMatchObject({ secrets: { 'A.TOKEN': { hosts: ['a.example'] } }, webhooks: { triage: { scheme: 'github' } } });
    expect((settled.project as { webhooks: { triage: object } }).webhooks.triage).not.toHaveProperty('secret');
    expect(settled.issues.map(({ path }) => path)).toEqual(['servers.a.url']);
  });

  it('do not change what is no project', () => {
    for (const value of [null, 1, 'text', [token], { secrets: token, servers: { a: token } }])
      expect(expandVariables(value, {})).toEqual({ project: value, issues: [] });
  });
});
