/**
 * The documents of a workspace as a project file, in the form in which they can be imported again. Values of secrets, and those that GET hides,
 * are replaced by environment variables. Keys, sessions and private tools are no documents of a project.
 */
import type * as z from 'zod';
import { Agent } from '../../../core/turn/agent.ts';
import { MadeTool } from '../../../core/tools/made-tool.ts';
import { MemberFields } from '../../../core/people/member.ts';
import { ModelAlias } from '../../../core/model/model-alias.ts';
import { Provider } from '../../../core/model/provider.ts';
import { escapeVariables, mapPlaces, placeholder, withHiddenVariables } from '../../../core/project/expand-variables.ts';
import type { Project } from '../../../core/project/project.ts';
import { projectSections } from '../../../core/project/project-sections.ts';
import type { ServerTool } from '../../../core/servers/server-tool.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import { Suite } from '../../../core/replay/suite.ts';
import { UiTool } from '../../../core/tools/ui-tool.ts';
import { Toolset } from '../../../core/toolset/toolset.ts';
import { ToolAliases } from '../../../core/toolset/tool-aliases.ts';
import { Subscription } from '../../../core/triggers/callbacks/callback.ts';
import { Schedule } from '../../../core/triggers/schedules/schedule.ts';
import { Webhook } from '../../../core/triggers/webhook.ts';
import { readAllDocuments } from '../../../engine/configuration/tools-of-key.ts';
import { readAllPages } from '../../../engine/read-pages.ts';
import type { CatalogPort, StoredDocument } from '../../../ports/catalog.ts';
import { type ProjectKind, projectKinds } from '../../../ports/projects.ts';
import { toServerDocument } from '../servers/server-views.ts';

type Body = Record<string, unknown>;

/** Members that a stored document shows, for kinds whose documents have no others than those that are written. */
const schemas: Partial<Record<ProjectKind, z.ZodObject>> = {
  provider: Provider,
  'model-alias': ModelAlias,
  'ui-tool': UiTool,
  'made-tool': MadeTool,
  'tool-aliases': ToolAliases,
  toolset: Toolset,
  agent: Agent,
  suite: Suite,
  webhook: Webhook,
  schedule: Schedule,
  subscription: Subscription,
  member: MemberFields,
};

/** Returns the documents of each kind sorted by name. `withSettings`: with the settings of the workspace. */
export async function exportProject(catalog: CatalogPort, { withSettings }: { withSettings: boolean }): Promise<z.input<typeof Project>> {
  const sections: Record<string, Body> = {};
  for (const kind of projectKinds) {
    if (kind === 'workspace' && !withSettings) continue;
    const documents = await readAllDocuments(catalog, kind);
    const section = projectSections[kind];
    for (const document of documents) {
      const body = await toBody(catalog, kind, document);
      if (section === 'policy' || section === 'workspace') sections[section] = body;
      else sections[section] = { ...sections[section], [document.name]: body };
    }
  }
  // Documents that were stored are valid as input.
  return withVariables(mapPlaces(sections, escapeVariables) as Body) as z.input<typeof Project>;
}

async function toBody(catalog: CatalogPort, kind: ProjectKind, document: StoredDocument): Promise<Body> {
  if (kind === 'server') return await toServer(catalog, document.name);
  // Bodies of skills were parsed from their files when they were written.
  if (kind === 'skill') return toSkill(document.body as Skill);
  const schema = schemas[kind];
  if (schema === undefined) return document.body;
  const members = Object.keys(schema.shape).filter((member) => member !== 'name' && document.body[member] !== undefined);
  return { ...Object.fromEntries(members.map((member) => [member, document.body[member]])), ...secretsOf(kind, document) };
}

/** The secrets that the document has: how many of a webhook, and otherwise whether it has one. `withVariables` replaces them. */
function secretsOf(kind: ProjectKind, { body }: StoredDocument): Body {
  if (kind === 'provider')
    return body.hasApiKey === true && body.apiKeySecret === undefined && body.apiKeySecrets === undefined ? { apiKey: true } : {};
  const callback = body.hasCallbackSecret === true ? { callbackSecret: true } : {};
  if (kind === 'webhook') return { secret: body.secrets, ...callback };
  if (kind === 'schedule') return callback;
  return kind === 'subscription' ? { secret: true } : {};
}

/** A static server with its tools, an OpenAPI server with the document that was uploaded. */
async function toServer(catalog: CatalogPort, name: string): Promise<Body> {
  const stored = await catalog.get('server', name);
  const { name: _name, ...server } = toServerDocument(stored);
  if (server.kind !== 'static') return { ...server, ...(stored.body.document !== undefined && { document: stored.body.document }) };
  const tools = await readAllPages((page) => catalog.serverTools(name, page));
  return { ...server, tools: tools.flatMap((tool) => (tool.state === 'ready' || tool.state === 'held' ? [toListed(tool)] : [])) };
}

function toListed({ name, description, inputSchema, outputSchema, annotations, aliases }: ServerTool): Body {
  return {
    ...{ name, description, inputSchema },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(aliases !== undefined && { aliases }),
  };
}

function toSkill({ content, resources }: Skill): Body {
  return { content, resources: Object.fromEntries(resources.map(({ path, text, base64 }) => [path, text ?? { base64 }])) };
}

/** Replaces secrets by variables that are named after their documents, each with a different name. */
function withVariables(sections: Body): Body {
  const taken = new Set<string>();
  const variable = (...parts: readonly string[]): string => {
    const base = parts
      .join('_')
      .replaceAll(/[^A-Za-z0-9_]/g, '_')
      .replace(/^(?=[0-9])/, '_');
    let name = base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    return placeholder(name);
  };
  const change = (section: string, set: (name: string, document: Body) => Body): void => {
    // A section that is present is a record of documents.
    const documents = sections[section] as Record<string, Body> | undefined;
    if (documents === undefined) return;
    sections[section] = Object.fromEntries(Object.entries(documents).map(([name, document]) => [name, set(name, document)]));
  };
  change('secrets', (name, document) => ({ value: variable(name), ...document }));
  for (const section of ['providers', 'webhooks', 'schedules', 'subscriptions'])
    change(section, (name, document) => {
      const named = (member: string, suffix: string): Body => {
        const given = document[member];
        const prefix = `${section.slice(0, -1)}_${name}_${suffix}`.toUpperCase();
        if (typeof given === 'number' && given > 1) return { [member]: Array.from({ length: given }, () => variable(prefix)) };
        return given === true || given === 1 ? { [member]: variable(prefix) } : {};
      };
      const { secret: _secret, callbackSecret: _callback, apiKey: _key, ...rest } = document;
      return { ...rest, ...named('apiKey', 'api_key'), ...named('secret', 'secret'), ...named('callbackSecret', 'callback_secret') };
    });
  for (const kind of ['server', 'provider'] as const)
    change(`${kind}s`, (name, document) => withHiddenVariables(kind, name, document, variable));
  return sections;
}
