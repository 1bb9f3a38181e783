/** Reads the project of an edge handler: variables, schemas, and what can be served without storage. All faults are reported together. */
import type { NamedModel } from '../core/model/model-alias.ts';
import { fillHidden, type WithoutHidden } from '../core/secrets/hidden-values.ts';
import type { Provider, CompleteProvider } from '../core/model/provider.ts';
import { providerBaseUrl } from '../core/names/provider-kind.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import { type Secret, secretHostOf, secretUseRefusal } from '../core/secrets/secret.ts';
import { invalidRequest, type Issue, Problem } from '../core/problem.ts';
import { expandVariables } from '../core/project/expand-variables.ts';
import { type Project, readProject } from '../core/project/project.ts';
import { callUrlOf, type Server, type CompleteServer } from '../core/servers/server.ts';
import { reservedServers } from '../core/names/reserved-names.ts';
import { nameMapIssues } from '../core/toolset/settle-names.ts';
import type { Toolset } from '../core/toolset/toolset.ts';
import type { Agent } from '../core/turn/agent.ts';
import type { Skill } from '../core/skills/skill.ts';
import { agentUsageLimits } from '../core/usage-limits.ts';
import { skillFilesOf } from '../engine/project/project-writes.ts';
import { readSkill } from '../formats/read-skill.ts';
import { defaultWorkspaceSettings, type WorkspaceSettings } from '../core/people/workspace.ts';
import { withSecretHosts } from '../engine/project/secret-hosts.ts';

export type ServedProject = {
  servers: ReadonlyMap<string, CompleteServer>;
  toolsets: ReadonlyMap<string, Toolset>;
  agents: ReadonlyMap<string, Agent>;
  skills: ReadonlyMap<string, Skill>;
  providers: ReadonlyMap<string, CompleteProvider>;
  secrets: ReadonlyMap<string, Secret>;
  modelAliases: readonly NamedModel[];
  /** Made tools and UI tools, by canonical name. */
  tools: ReadonlyMap<string, NonNullable<Project['tools']>[string]>;
  toolAliases: NonNullable<Project['toolAliases']>;
  rules: readonly PolicyRule[];
  settings: WorkspaceSettings;
  /** What the project has and an edge handler does not serve, for the log. */
  ignored: readonly string[];
};

/** `environment`: values of `${NAME}`. Throws `invalid_request` with an issue for each fault. */
export async function readServedProject(
  given: unknown,
  environment: { readonly [name: string]: string | undefined },
): Promise<ServedProject> {
  const expanded = expandVariables(given, environment);
  if (expanded.issues.length > 0) throw invalidRequest(expanded.issues);
  const project = await withSecretHosts(noStoredSecrets, readProject(expanded.project).project);
  const hidden: Issue[] = [];
  const servers = completeDocuments('server', project.servers, hidden);
  const providers = completeDocuments('provider', project.providers, hidden);
  const secrets = secretsIn(project);
  const skills = skillsIn(project, hidden);
  const { settings } = project.workspace ?? { settings: defaultWorkspaceSettings };
  const issues = [
    ...hidden,
    ...[...servers].flatMap(([name, server]) => serverIssues(name, server)),
    ...secretIssues(secrets, servers, providers),
    ...agentIssues(project),
    ...limitIssues('workspace.settings.limits', settings.limits),
    ...(providers.has('rehearsal') ? [{ path: 'providers.rehearsal', message: 'is built in and cannot be replaced' }] : []),
    ...nameMapIssues(settings.nameMap).map(({ path, message }) => ({ path: `workspace.${path}`, message })),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
  return {
    ...{ servers, providers, secrets, settings, skills },
    toolsets: mapOf(project.toolsets),
    agents: mapOf(project.agents),
    modelAliases: Object.entries(project.modelAliases ?? {}).map(([name, { model, cache }]) => ({
      name,
      model,
      ...(cache !== undefined && { cache }),
    })),
    tools: mapOf(project.tools),
    toolAliases: project.toolAliases ?? {},
    rules: project.policy?.rules ?? [],
    ignored: notServed.filter((section) => Object.keys(project[section] ?? {}).length > 0),
  };
}

const noStoredSecrets = {
  get: () => Promise.reject(new Problem('not_found', 'An edge handler stores no secrets.')),
};

/** They need sessions or a schedule. */
const notServed = ['suites', 'webhooks', 'schedules', 'subscriptions'] as const;

function mapOf<Value>(record: Readonly<Record<string, Value>> | undefined): ReadonlyMap<string, Value> {
  return new Map(Object.entries(record ?? {}));
}

/** Nothing is stored, so that hidden values are missing: `issues` receives them. */
function completeDocuments<Given extends Server | Provider>(
  kind: 'server' | 'provider',
  documents: Readonly<Record<string, Given>> = {},
  issues: Issue[],
): ReadonlyMap<string, WithoutHidden<Given>> {
  return new Map(
    Object.entries(documents).map(([name, given]) => {
      const { document, issues: own } = fillHidden(kind, given, () => null);
      issues.push(...own.map(({ path, message }) => ({ path: `${kind}s.${name}.${path}`, message })));
      return [name, document];
    }),
  );
}

/** `issues` receives the faults of the skills that are left out. */
function skillsIn({ skills = {} }: Project, issues: Issue[]): ReadonlyMap<string, Skill> {
  const all = Object.entries(skills).flatMap(([name, given]): [string, Skill][] => {
    try {
      return [[name, readSkill(name, skillFilesOf(given)).skill]];
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // Written as `Issue`s by `core/problem.ts`.
      const own = (error.extra.issues ?? [{ path: '', message: error.detail }]) as Issue[];
      issues.push(...own.map(({ path, message }) => ({ path: `skills.${name}.${path}`, message })));
      return [];
    }
  });
  return new Map(all);
}

/** Names that exist when the project is written in a workspace may be missing there for a while; here they never come. */
function agentIssues({ agents = {}, toolsets = {}, skills = {} }: Project): Issue[] {
  return Object.entries(agents).flatMap(([name, { toolset, skills: loaded = [], limits: own }]): Issue[] => {
    const path = `agents.${name}`;
    const [reference = '', version = '1'] = (toolset ?? '').split('@');
    const isMissing = toolset !== undefined && (!Object.hasOwn(toolsets, reference) || version !== '1');
    return [
      ...(isMissing ? [{ path: `${path}.toolset`, message: `there is no toolset "${toolset}" in the project` }] : []),
      ...loaded.flatMap((skill, index) =>
        Object.hasOwn(skills, skill) ? [] : [{ path: `${path}.skills[${index}]`, message: `there is no skill "${skill}" in the project` }],
      ),
      ...limitIssues(`${path}.limits`, own),
    ];
  });
}

/** Limits that would have to be counted. */
function limitIssues(path: string, given: Readonly<Record<string, unknown>> | undefined): Issue[] {
  const counted = Object.keys(given ?? {}).filter((name) => Object.hasOwn(agentUsageLimits, name));
  const message = 'is counted in Durable Objects, which an edge handler does not have: omit it here';
  return counted.map((name) => ({ path: `${path}.${name}`, message }));
}

function serverIssues(name: string, server: CompleteServer): Issue[] {
  const path = `servers.${name}`;
  if (reservedServers.has(name)) return [{ path, message: 'is reserved by Moniker' }];
  if (!('command' in server)) return [];
  const message =
    'is a command, which an edge handler cannot start. Give the url of the server, or serve it from a machine (moniker start) and use that url';
  return [{ path: `${path}.command`, message }];
}

/** A secret without a value does not exist. */
function secretsIn({ secrets = {} }: Project): ReadonlyMap<string, Secret> {
  const all = Object.entries(secrets).flatMap(([name, { value, hosts = [], tools }]): [string, Secret][] =>
    value === undefined ? [] : [[name, { value, hosts, ...(tools !== undefined && { tools }) }]],
  );
  return new Map(all);
}

/** The secrets that a server or provider sends to its own host. */
function usesOf({ headers = {}, ...rest }: Pick<CompleteServer | CompleteProvider, 'headers'>): { path: string; name: string }[] {
  const own = 'apiKeySecret' in rest && typeof rest.apiKeySecret === 'string' ? [{ path: 'apiKeySecret', name: rest.apiKeySecret }] : [];
  const sent = Object.entries(headers).flatMap(([header, value]) =>
    typeof value === 'string' ? [] : [{ path: `headers.${header}.secret`, name: value.secret }],
  );
  return [...own, ...sent];
}

/** Reports secrets that are bound to other hosts than the one that they would be sent to. */
function secretIssues(
  secrets: ReadonlyMap<string, Secret>,
  servers: ReadonlyMap<string, CompleteServer>,
  providers: ReadonlyMap<string, CompleteProvider>,
): Issue[] {
  const places = [
    ...[...servers].map(([name, server]) => ({ path: `servers.${name}`, document: server, url: callUrlOf(server) })),
    ...[...providers].map(([name, provider]) => ({ path: `providers.${name}`, document: provider, url: providerBaseUrl(provider) })),
  ];
  return places.flatMap(({ path, document, url }) =>
    usesOf(document).flatMap(({ path: member, name }) => {
      const secret = secrets.get(name);
      if (secret === undefined || url === null) return [];
      const refusal = secretUseRefusal({ hosts: secret.hosts }, { host: secretHostOf(url) });
      return refusal === null ? [] : [{ path: `${path}.${member}`, message: `the secret "${name}" cannot be used here: ${refusal}` }];
    }),
  );
}
