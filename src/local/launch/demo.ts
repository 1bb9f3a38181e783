/**
 * The demo of a first start: a toolset `demo` with custom names, an agent `demo` on the built-in model (with made tools enabled), and a
 * session. Written over the public API, only if the workspace has no toolset, and never over a user's document.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxAgentSkills } from '../../core/turn/agent.ts';
import { fold } from '../../core/names/fold.ts';
import type { components, MonikerClient } from '../../../client/src/index.ts';
import { nullFor } from './own-service.ts';

const toolset = 'demo';
const header = { 'if-none-match': '*' };
const agent = 'demo';

/** Shows given names and aliases; a tool that this build lacks is skipped. */
const namedEntries: readonly { tool: string; name?: string; aliases?: string[] }[] = [
  { tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell', 'bash'] },
  { tool: 'builtin.read_file', aliases: ['cat', 'open_file'] },
  { tool: 'builtin.write_file', aliases: ['save_file'] },
  { tool: 'builtin.edit_file' },
  { tool: 'builtin.list_directory', aliases: ['ls'] },
  { tool: 'builtin.http_request', name: 'fetchUrl', aliases: ['http'] },
  { tool: 'builtin.create_tool' },
];

const toolsetDescription = 'A terminal, files and the web, under custom names.';
const description = 'Created on the first start, for trying things out.';

/**
 * Returns the id of the demo session, or null if the demo agent or its toolset does not exist. `skills`: those of `MONIKER_SKILLS_DIR`, which
 * the demo agent gets, and those that left it.
 */
export async function prepareDemo(
  client: MonikerClient,
  dataDir: string,
  skills: { names: readonly string[]; left: readonly string[] } = { names: [], left: [] },
): Promise<string | null> {
  const { items } = await client.get('/v1/toolsets', { params: { query: { limit: 1 } } });
  const isHalfMade = items.length === 1 && items[0]?.description === toolsetDescription && readSessionId(dataDir) === null;
  if (items.length === 0) await makeDemo(client);
  // The process ended between the two documents. Later, a missing agent is one that the user deleted.
  else if (isHalfMade) await makeAgent(client);
  const demo = await nullFor(404, client.get('/v1/agents/{agent}', { params: { path: { agent } } }));
  if (demo === null) return null;
  await addSkills(client, demo, skills);
  if (demo.toolset !== undefined && (await nullFor(404, client.get('/v1/toolsets/{toolset}', inToolset(demo.toolset)))) === null)
    return null;
  return (await findSession(client, dataDir)) ?? (await makeSession(client, dataDir));
}

function inToolset(name: string) {
  return { params: { path: { toolset: name } } };
}

/** Leaves an agent that a user described alone. */
async function addSkills(
  client: MonikerClient,
  demo: components['schemas']['AgentView'],
  { names, left }: { names: readonly string[]; left: readonly string[] },
): Promise<void> {
  const before = demo.skills ?? [];
  const kept = before.filter((name) => !left.includes(name));
  const all = [...new Set([...kept, ...names])].slice(0, Math.max(kept.length, maxAgentSkills));
  if (demo.description === description && all.join() !== before.join())
    await client.put('/v1/agents/{agent}', { params: { path: { agent } }, body: { ...demo, skills: all } });
}

async function makeDemo(client: MonikerClient): Promise<void> {
  const { items } = await client.get('/v1/tools', { params: { query: { limit: 200 } } });
  const known = items.map((tool) => tool.canonical);
  const own = items.filter(({ canonical }) => canonical.startsWith('local.'));
  const local = own.map(({ canonical: tool }) => ({ tool }));
  // The own name of a tool in code takes precedence over the names of the demo.
  const taken = new Set(own.map(({ name }) => fold(name)));
  const entries = namedEntries.flatMap(({ tool, name, aliases }) => {
    if (!known.includes(tool)) return [];
    const isFree = (one: string | undefined): one is string => one !== undefined && !taken.has(fold(one));
    return [{ tool, ...(isFree(name) && { name }), ...(aliases !== undefined && { aliases: aliases.filter(isFree) }) }];
  });
  const created = client.put('/v1/toolsets/{toolset}', {
    params: { path: { toolset }, header },
    body: { description: toolsetDescription, tools: [...entries, ...local] },
  });
  // The demo agent must not use a toolset of the user.
  if ((await nullFor(412, created)) !== null) await makeAgent(client);
}

async function makeAgent(client: MonikerClient): Promise<void> {
  const instructions = 'Use the tools to do what the user asks, then briefly summarize what you did.';
  const body = { description, model: 'rehearsal/default', toolset, made: true, instructions };
  await nullFor(412, client.put('/v1/agents/{agent}', { params: { path: { agent }, header }, body }));
}

async function findSession(client: MonikerClient, dataDir: string): Promise<string | null> {
  const id = readSessionId(dataDir);
  if (id === null) return null;
  const session = await nullFor(404, client.get('/v1/sessions/{id}', { params: { path: { id } } }));
  return session?.agent === agent ? id : null;
}

async function makeSession(client: MonikerClient, dataDir: string): Promise<string> {
  const { id } = await client.post('/v1/sessions', { body: { agent } });
  writeFileSync(sessionFile(dataDir), `${id}\n`, { mode: 0o600 });
  return id;
}

function readSessionId(dataDir: string): string | null {
  try {
    const id = readFileSync(sessionFile(dataDir), 'utf8').trim();
    return /^[\w-]+$/.test(id) ? id : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // fs errors carry a code
    throw error;
  }
}

function sessionFile(dataDir: string): string {
  return join(dataDir, 'demo-session');
}
