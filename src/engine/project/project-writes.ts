/**
 * Turns a project into the documents to write, and checks the rights of the key for each as its own operation does. Nothing is stored here.
 */
import { requireAllowed } from '../../core/people/authority.ts';
import type { MadeTool } from '../../core/tools/made-tool.ts';
import { withoutFence } from '../../core/made/code-uses.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Agent } from '../../core/turn/agent.ts';
import type { Principal, Scope } from '../../core/people/principal.ts';
import { invalidRequest, type Issue, Problem } from '../../core/problem.ts';
import type { Project } from '../../core/project/project.ts';
import { documentPath, projectSections } from '../../core/project/project-sections.ts';
import type { SecretBinding } from '../../core/secrets/secret.ts';
import { changedSecret } from '../../core/servers/launched-settings.ts';
import { type GivenResource, givenResources } from '../../core/skills/skill.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import { policyDocument, workspaceDocument, type CatalogPort } from '../../ports/catalog.ts';
import { type DocumentWrite, type ProjectKind, projectKinds } from '../../ports/projects.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import { requireCompiles, requireMayHoldSecrets, writeMadeTool } from '../configuration/write-made-tool.ts';
import { checkAgent, checkToolset } from '../configuration/write-toolset.ts';
import { withSecretHosts } from './secret-hosts.ts';

export type ProjectDeps = { catalog: CatalogPort; sandbox: Pick<Sandbox, 'check'> };

/** `what`: documents that belong to the whole workspace, as in the routes of their kind. */
const rules: Readonly<Record<ProjectKind, { scope: Scope; what?: string }>> = {
  secret: { scope: 'admin', what: 'Secrets' },
  provider: { scope: 'admin', what: 'Providers' },
  'model-alias': { scope: 'admin', what: 'Providers' },
  server: { scope: 'admin', what: 'Servers' },
  'ui-tool': { scope: 'toolsets', what: 'UI tools' },
  'made-tool': { scope: 'toolsets' },
  'tool-aliases': { scope: 'toolsets', what: 'Default aliases' },
  toolset: { scope: 'toolsets' },
  skill: { scope: 'toolsets', what: 'Skills' },
  agent: { scope: 'toolsets', what: 'Agents' },
  suite: { scope: 'toolsets', what: 'Suites' },
  policy: { scope: 'admin', what: 'The policy and its rules' },
  webhook: { scope: 'admin', what: 'Webhooks' },
  schedule: { scope: 'admin', what: 'Schedules' },
  subscription: { scope: 'admin', what: 'Subscriptions' },
  member: { scope: 'admin', what: 'Members' },
  workspace: { scope: 'admin' },
};

/**
 * `unset`: paths of documents whose secret has no value. They may fail, and so may servers whose command the caller may not run, their
 * secrets, and the documents that name their tools.
 */
type WriteConditions = { unset: ReadonlySet<string>; mayRunCommands: boolean };

type Document = { kind: ProjectKind; name: string; body: Record<string, unknown> };

/**
 * Returns one write for each document. Throws `forbidden` for a document that the key may not write, and `invalid_request` for what the
 * Catalog does not check, both with its path.
 */
export async function projectWrites(
  deps: ProjectDeps,
  principal: Principal,
  project: Project,
  { unset, mayRunCommands }: WriteConditions,
): Promise<DocumentWrite[]> {
  const documents = documentsIn(await withSecretHosts(deps.catalog, project));
  if (documents.length > limits.maxProjectDocuments)
    throw invalidRequest([{ path: '', message: `has ${documents.length} documents; the maximum is ${limits.maxProjectDocuments}` }]);
  for (const { kind, name } of documents) await atPath(kind, name, async () => requireRight(principal, kind));
  const servers = Object.entries(project.servers ?? {}).flatMap(([name, { kind }]) => (kind === 'static' ? [] : [name]));
  const commands = Object.entries(project.servers ?? {}).flatMap(([name, server]) =>
    !mayRunCommands && server.kind === 'mcp' && server.command !== undefined ? [name] : [],
  );
  const writes: DocumentWrite[] = [];
  for (const document of documents) {
    const { kind, name } = document;
    const mayFail = unset.has(documentPath(kind, name)) || needsOneOf(commands, document) || (!mayRunCommands && isForCommand(document));
    const checked = await catchFault(
      mayFail,
      atPath(kind, name, () => check(deps, principal, document)),
    );
    writes.push({
      ...document,
      ...checked,
      ...(namesToolsOf(servers, document) && { awaitsTools: true }),
      ...(mayFail && { mayFail }),
    });
  }
  return writes;
}

/** Converts the problem of a document that may fail to the reason why it is skipped. */
async function catchFault<T>(mayFail: boolean, work: Promise<T>): Promise<T | { fault: string }> {
  try {
    return await work;
  } catch (error) {
    if (!mayFail || !(error instanceof Problem) || error.code === 'forbidden') throw error;
    return { fault: error.detail };
  }
}

function documentsIn(project: Project): Document[] {
  return projectKinds.flatMap((kind): Document[] => {
    const section = project[projectSections[kind]];
    if (section === undefined) return [];
    if (kind === 'policy' || kind === 'workspace')
      return [{ kind, name: kind === 'policy' ? policyDocument : workspaceDocument, body: section }];
    const prefix = kind === 'ui-tool' ? 'ui.' : kind === 'made-tool' ? 'made.' : '';
    return Object.entries(section).flatMap(([name, body]) =>
      name.startsWith(prefix) ? [{ kind, name, body: toBody(kind, name, body) }] : [],
    );
  });
}

/** The document as its route passes it to the Catalog. */
function toBody(kind: ProjectKind, name: string, given: unknown): Record<string, unknown> {
  // Every document of a project is an object.
  const body = given as Record<string, unknown>;
  if (kind === 'skill') return skillFilesOf(body as NonNullable<Project['skills']>[string], `skills.${name}.`);
  if (body.name !== undefined && body.name !== name && kind !== 'made-tool')
    throw invalidRequest([{ path: `${documentPath(kind, name)}.name`, message: `differs from ${JSON.stringify(name)}: omit it` }]);
  if (kind === 'provider' || kind === 'model-alias') {
    const { name: _name, ...rest } = body;
    return rest;
  }
  return isNamed.has(kind) ? { ...body, name } : body;
}

/** Kinds whose documents repeat their name. */
const isNamed: ReadonlySet<ProjectKind> = new Set(['agent', 'suite', 'webhook', 'schedule', 'subscription']);

/** `at`: begins the path of a fault. */
export function skillFilesOf(skill: NonNullable<Project['skills']>[string], at = ''): { content: string; resources: GivenResource[] } {
  if ('content' in skill) return { content: skill.content, resources: givenResources(skill.resources) };
  const message =
    'only the command line reads folders: use moniker apply or moniker import, send a zip archive, or give content and resources';
  throw invalidRequest([{ path: `${at}path`, message }]);
}

function requireRight(principal: Principal, kind: ProjectKind): void {
  const { scope, what } = rules[kind];
  requireAllowed(principal, { act: 'use-scope', scopes: [scope] });
  if (what !== undefined) requireAllowed(principal, { act: 'use-workspace', what });
  if (kind === 'made-tool') requireAllowed(principal, { act: 'make-tool' });
  if (kind === 'workspace') requireAllowed(principal, { act: 'manage-workspaces', keyId: principal.keyId });
}

/** The checks that depend on the document and on what the key has. Returns what they change. */
async function check(
  { catalog, sandbox }: ProjectDeps,
  principal: Principal,
  { kind, name, body }: Document,
): Promise<Partial<Pick<DocumentWrite, 'body' | 'options'>>> {
  if (kind === 'toolset') {
    // Bodies were parsed with the schemas of their kinds.
    const toolset = body as Toolset;
    const { tools, options } = await checkToolset(catalog, principal, name, toolset, {});
    return { body: { ...toolset, tools, name }, options };
  }
  if (kind === 'agent') return { options: await checkAgent(catalog, principal, name, body as Agent, {}) };
  if (kind !== 'made-tool') return {};
  const given = body as MadeTool;
  const tool = { ...given, implementation: withoutFence(given.implementation) };
  await requireMayHoldSecrets(catalog, principal, name);
  await requireCompiles(sandbox, tool.implementation);
  let write: Partial<Pick<DocumentWrite, 'body' | 'options'>> = {};
  const capture: CatalogPort['put'] = async (_kind, _name, checked, options = {}) => {
    write = { body: checked, options: { ...(options.ifNoneMatch === true && { ifNoneMatch: true }) } };
    return { document: { name, version: 0, body: checked, createdAt: '', updatedAt: '' }, created: false, changed: false, warnings: [] };
  };
  await writeMadeTool({ ...catalog, put: capture }, principal, { canonical: name, tool, options: { dryRun: true } });
  return write;
}

/** Whether the document names a tool of a server that lists its tools after it was written. */
function namesToolsOf(servers: readonly string[], { kind, body }: Document): boolean {
  if (kind !== 'toolset' && kind !== 'made-tool' && kind !== 'tool-aliases' && kind !== 'workspace') return false;
  const text = JSON.stringify(body);
  return kind === 'tool-aliases' ? servers.length > 0 : servers.some((server) => text.includes(`${server}.`));
}

/** Whether the document is one of these servers, or names one of their tools. */
function needsOneOf(servers: readonly string[], document: Document): boolean {
  return document.kind === 'server' ? servers.includes(document.name) : servers.length > 0 && namesToolsOf(servers, document);
}

/** Whether the document is a secret for programs of the machine. */
function isForCommand({ kind, body }: Document): boolean {
  // Parsed with the schema of a project's secrets.
  return kind === 'secret' && changedSecret((body as Partial<SecretBinding>).hosts).length > 0;
}

async function atPath<T>(kind: ProjectKind, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw placed(error, documentPath(kind, name));
  }
}

function placed(error: unknown, path: string): unknown {
  if (!(error instanceof Problem)) return error;
  // Written in this shape by `core/problem.ts`.
  const issues = ((error.extra.issues as Issue[] | undefined) ?? [{ path: '', message: error.detail }]).map((issue) => ({
    path: issue.path === '' ? path : `${path}.${issue.path}`,
    message: issue.message,
  }));
  return new Problem(error.code, `${path}: ${error.detail}`, { ...error.extra, issues });
}
