import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zipOf } from '../formats/zips.ts';
import { shareService } from './shared-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-skills-'));
for (const [name, text] of [
  ['greet', '---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n'],
  ['broken', 'no frontmatter'],
] as const) {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'SKILL.md'), text);
}
afterAll(() => rmSync(folder, { recursive: true }));

const content =
  '---\nname: count-lines\ndescription: Counts lines of files.\nallowed-tools: Bash(wc:*) Read\nrequires: [send_mail]\n---\nUse the `bash` tool to run scripts/count.sh on each file.\n';
const script = '#!/bin/bash\nwc -l < "$1"\n';

describe('skills', () => {
  const service = shareService({ MONIKER_SKILLS_DIR: folder });
  let session: string;

  beforeAll(async () => {
    const archive = zipOf({ 'count-lines/SKILL.md': content, 'count-lines/scripts/count.sh': script });
    const put = await fetch(`${service.url}/v1/skills/count-lines`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/zip' },
      body: archive as Uint8Array<ArrayBuffer>,
    });
    expect(put.status).toBe(201);
    const tools = [
      { tool: 'builtin.bash', name: 'terminalRun', aliases: [] },
      { tool: 'builtin.write_file', aliases: [] },
    ];
    await service.call('PUT', '/v1/toolsets/skilled', { tools });
    const agent = { model: 'rehearsal/default', toolset: 'skilled', skills: ['count-lines', 'greet', 'nowhere'] };
    const { json } = await service.call('PUT', '/v1/agents/skilled', agent);
    expect(json.warnings).toEqual([
      { path: 'skills[0]', message: expect.stringContaining('unavailable: it needs send_mail') },
      { path: 'skills[2]', message: expect.stringContaining('The skill "nowhere" does not exist yet') },
    ]);
    session = (await service.call('POST', '/v1/sessions', { agent: 'skilled' })).json.id;
  });

  const turn = async (input: string, id = session) => (await service.call('POST', `/v1/sessions/${id}/turns`, { input })).json;

  it('of the folder are loaded at the start, and an invalid one is reported in the output', async () => {
    expect(service.printed()).toMatch(/skills +greet \(from /);
    expect(service.printed()).toContain('skill broken was not loaded: SKILL.md: must begin with its frontmatter');
    expect((await service.call('GET', '/v1/skills/greet')).json).toMatchObject({ description: 'Greets people.', resources: {} });
  });

  it("refer to tools by the agent's names for them, and list missing tools", async () => {
    const { toolCalls } = await turn('/use_skill {"name": "count-lines"}');
    expect(toolCalls[0]).toMatchObject({ canonical: 'builtin.use_skill', isError: false });
    const { text } = toolCalls[0].content[0];
    expect(text).toContain('Use the `terminalRun` tool to run scripts/count.sh');
    expect(text).toContain('`Bash` is `terminalRun`');
    expect(text).toContain('Unavailable: needs `send_mail`');
    expect(text).toContain('/skills/count-lines/scripts/count.sh');
  });

  it('that say "use the bash tool" run it under the agent’s name for it, on their own files', async () => {
    const { status, toolCalls } = await turn(
      '/write_file {"path": "a.txt", "content": "1\\n2\\n3\\n"}\n\n/bash {"command": "/skills/count-lines/scripts/count.sh a.txt; ls /skills"}',
    );
    expect(status).toBe('completed');
    expect(toolCalls[1]).toMatchObject({ requested: 'bash', canonical: 'builtin.bash', isError: false });
    expect(toolCalls[1].content[0].text).toMatch(/^\s*3\ncount-lines\ngreet\n/);
  });

  it('are read-only: writes to their files are rejected without an approval', async () => {
    const { status, toolCalls } = await turn(
      '/write_file {"path": "/skills/greet/SKILL.md", "content": "mine"}\n/bash {"command": "rm -r /skills/greet; cat /skills/greet/SKILL.md; echo x > /skills/greet/x"}',
    );
    expect(status).toBe('completed');
    expect(toolCalls[0]).toMatchObject({ isError: true, code: 'tool_error' });
    expect(toolCalls[0].content[0].text).toContain('files of skills are read-only');
    expect(toolCalls[1].content[0].text).toContain('read-only file system');
    expect(toolCalls[1].content[0].text).toContain('Say hello.');
  });

  it('that are unknown produce an error that lists the available ones', async () => {
    const { toolCalls } = await turn('/use_skill {"name": "nowhere"}');
    expect(toolCalls[0]).toMatchObject({ isError: true });
    expect(toolCalls[0].content[0].text).toContain('Available skills: count-lines, greet.');
  });

  it('that were changed are updated at the next turn, and an identical PUT creates no version', async () => {
    const changed = { content: content.replace('on each file', 'on every file') };
    expect((await service.call('PUT', '/v1/skills/count-lines', changed)).json.version).toBe(2);
    expect((await service.call('PUT', '/v1/skills/count-lines', changed)).json.version).toBe(2);
    const { toolCalls } = await turn('/use_skill {"name": "count-lines"}\n/terminalRun ls /skills/count-lines');
    expect(toolCalls[0].content[0].text).toContain('on every file');
    expect(toolCalls[1].content[0].text).toMatch(/^SKILL\.md\n/);
  });

  it('are available to an agent without a toolset, and not to agents that list none', async () => {
    await service.call('PUT', '/v1/agents/reader', { model: 'rehearsal/default', skills: ['greet'] });
    const reader = (await service.call('POST', '/v1/sessions', { agent: 'reader' })).json.id;
    expect((await turn('/use_skill {"name": "greet"}', reader)).toolCalls[0].content[0].text).toContain('Say hello.');
    const bare = { model: 'rehearsal/default', toolset: 'demo' };
    expect((await service.call('PUT', '/v1/agents/bare', bare)).status).toBe(201);
    const other = (await service.call('POST', '/v1/sessions', { agent: 'bare' })).json.id;
    const { toolCalls } = await turn('/use_skill {"name": "greet"}\n/shell ls /', other);
    expect(toolCalls[0]).toMatchObject({ isError: true, code: 'unknown_tool' });
    expect(toolCalls[1].content[0].text).not.toContain('skills');
    // The demo agent has the skills of MONIKER_SKILLS_DIR.
    const demo = (await service.call('POST', '/v1/sessions', { agent: 'demo' })).json.id;
    expect((await turn('/use_skill {"name": "greet"}', demo)).toolCalls[0]).toMatchObject({ isError: false });
  });

  it.each([[[]], [[{ type: 'function', function: { name: 'mine', parameters: { type: 'object' } } }]]])(
    'are also available in the chat of a stock client with the tools %j',
    async (tools) => {
      const { json } = await service.call('POST', '/v1/chat/completions', {
        model: 'agent/reader',
        ...(tools.length > 0 && { tools }),
        messages: [{ role: 'user', content: '/use_skill {"name": "greet"}' }],
      });
      expect(json.choices[0].message.content).toContain('Say hello.');
    },
  );

  it('that are deleted are unavailable, and the agent continues without them', async () => {
    expect((await service.call('DELETE', '/v1/skills/greet')).status).toBe(204);
    const { status, toolCalls } = await turn('/use_skill {"name": "greet"}');
    expect([status, toolCalls[0].content[0].text]).toEqual(['completed', expect.stringContaining('Available skills: count-lines.')]);
  });

  it('cannot be damaged in the store', async () => {
    const before = (await service.call('GET', '/v1/skills/count-lines')).json;
    for (const bad of [{ content: 'x' }, { content, resources: { '../x': 'a' } }, { content: content.replace('count-lines', 'other') }]) {
      expect((await service.call('PUT', '/v1/skills/count-lines', bad)).status).toBe(422);
    }
    expect((await service.call('GET', '/v1/skills/count-lines')).json).toEqual(before);
    expect((await service.call('PUT', '/v1/skills/count-lines', before)).json).toMatchObject({ version: 2, warnings: [] });
  });
});
