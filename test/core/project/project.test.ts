import { describe, expect, it } from 'vitest';
import { Project } from '../../../src/core/project/project.ts';

describe('a project', () => {
  it('has documents with the bodies of their PUT requests', () => {
    const project = {
      secrets: { TOKEN: { value: 'Bearer abcd', hosts: ['mcp.example.com'] }, LATER: {} },
      providers: { groq: { kind: 'openai-compatible', baseUrl: 'https://api.groq.com/openai/v1', apiKeySecret: 'LATER' } },
      modelAliases: { 'gpt-4o': { model: 'groq/llama-3.3-70b-versatile' } },
      servers: { docs: { kind: 'mcp', url: 'https://mcp.example.com/mcp', headers: { authorization: { secret: 'TOKEN' } } } },
      tools: { 'ui.camera': { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] } },
      toolAliases: { 'builtin.bash': { aliases: ['shell'] } },
      toolsets: { work: { tools: [{ tool: 'docs.*' }] } },
      skills: { notes: { path: 'skills/notes' }, inline: { content: '---\nname: inline\n---\n' } },
      agents: { helper: { model: 'rehearsal/default', toolset: 'work' } },
      policy: { rules: [] },
      workspace: { settings: { retention: { auditDays: 30 } } },
    };
    const parsed = Project.parse(project);
    expect(parsed.toolsets?.work).toEqual({ announce: 'prompt', tools: [{ tool: 'docs.*' }] });
    expect(parsed.skills?.inline).toEqual({ content: '---\nname: inline\n---\n', resources: {} });
  });

  it('rejects unknown members, wrong names and documents of another kind, with their paths', () => {
    const wrong = { tolsets: {}, servers: { Docs: { kind: 'mcp', url: 'https://x.example' } }, agents: { a: { toolset: 'work' } } };
    const paths = Project.safeParse(wrong).error?.issues.map(({ code, path }) => `${code} ${path.join('.')}`);
    expect(paths).toEqual(['invalid_key servers.Docs', 'invalid_type agents.a.model', 'unrecognized_keys ']);
  });
});
