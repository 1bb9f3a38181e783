/**
 * A project: documents of a workspace in one file (`moniker.yaml`), by kind and name. Each document has the body of its PUT request.
 * Environment variables are expanded before a project is sent (`expand-variables.ts`).
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { Agent, ResourceName } from '../turn/agent.ts';
import { MadeTool, MadeToolName } from '../tools/made-tool.ts';
import { Member } from '../people/member.ts';
import { ModelAlias, ModelAliasName } from '../model/model-alias.ts';
import { Provider, ProviderName } from '../model/provider.ts';
import { Policy } from '../policy/policy.ts';
import { Suite } from '../replay/suite.ts';
import { Secret, SecretName } from '../secrets/secret.ts';
import { Server, ServerName } from '../servers/server.ts';
import { SkillName, skillFiles } from '../skills/skill.ts';
import { UiTool, UiToolName } from '../tools/ui-tool.ts';
import { Toolset, ToolsetName } from '../toolset/toolset.ts';
import { ToolAliases } from '../toolset/tool-aliases.ts';
import { Schedule } from '../triggers/schedules/schedule.ts';
import { Subscription } from '../triggers/callbacks/callback.ts';
import { Webhook } from '../triggers/webhook.ts';
import { Workspace } from '../people/workspace.ts';
import { placeholder, settleVariables } from './expand-variables.ts';
import type { Json } from '../json/wire-value.ts';
import { invalidRequest, type Warning, parsePart } from '../problem.ts';

const ProjectSecret = z
  .strictObject({
    value: Secret.shape.value.optional().meta({
      description: `Usually \`${placeholder('VARIABLE')}\`. Absent: the stored value stays, and a secret that does not exist is skipped.`,
    }),
    hosts: Secret.shape.hosts.optional().meta({
      description:
        'The only hosts that the secret may be sent to. Absent: the hosts of the servers and providers of the project that name the secret.',
    }),
    tools: Secret.shape.tools,
  })
  .meta({ id: 'ProjectSecret' });

const ProjectSkill = z
  .union(
    [
      z.strictObject({
        path: z.string().min(1).max(1_024).meta({ description: 'The folder with SKILL.md, relative to the project file.' }),
      }),
      z.strictObject(skillFiles),
    ],
    { error: 'must be {"path": "<folder with SKILL.md>"} or {"content", "resources"}' },
  )
  .meta({ id: 'ProjectSkill' });

const CanonicalName = z.string().min(3).max(limits.maxCanonicalNameLength);

export const Project = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'The URL of this schema, for editors.' }),
    secrets: z.record(SecretName, ProjectSecret).optional(),
    providers: z.record(ProviderName, Provider).optional(),
    modelAliases: z.record(ModelAliasName, ModelAlias).optional(),
    servers: z.record(ServerName, Server).optional(),
    tools: z
      .record(z.union([MadeToolName, UiToolName]), z.union([MadeTool, UiTool]))
      .optional()
      .meta({ description: 'Made tools and UI tools, by canonical name: `made.<name>`, `ui.<name>`.' }),
    toolAliases: z.record(CanonicalName, ToolAliases).optional().meta({ description: 'Default aliases, by canonical name of the tool.' }),
    toolsets: z.record(ToolsetName, Toolset).optional(),
    skills: z.record(SkillName, ProjectSkill).optional(),
    agents: z.record(ResourceName, Agent).optional(),
    suites: z.record(ResourceName, Suite).optional(),
    policy: Policy.optional(),
    webhooks: z.record(ResourceName, Webhook).optional(),
    schedules: z.record(ResourceName, Schedule).optional(),
    subscriptions: z.record(ResourceName, Subscription).optional(),
    members: z.record(ResourceName, Member).optional(),
    workspace: Workspace.optional().meta({ description: 'The settings of the workspace, as for PUT /v1/workspaces/{workspace}.' }),
  })
  .meta({
    id: 'Project',
    description: 'Documents of a workspace by kind and name, each with the body of its PUT request.',
    example: {
      secrets: { GITHUB_TOKEN: { value: placeholder('GITHUB_TOKEN'), hosts: ['api.githubcopilot.com'] } },
      servers: {
        github: { kind: 'mcp', url: 'https://api.githubcopilot.com/mcp/', headers: { authorization: { secret: 'GITHUB_TOKEN' } } },
      },
      toolsets: { work: { tools: [{ tool: 'github.*' }, { tool: 'builtin.bash', aliases: ['shell'] }] } },
      agents: { helper: { model: 'rehearsal/default', toolset: 'work' } },
    },
  });
export type Project = z.infer<typeof Project>;

/** Strings with a pattern or a format may be variables instead: the service checks them after they were expanded. */
const variable = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };

/** The JSON Schema of project files, for editors: served at `/moniker.schema.json`, and stored in the repository as `docs/moniker.schema.json`. */
export function projectJsonSchema(): Json {
  const { $schema, ...schema } = z.toJSONSchema(Project, { io: 'input', unrepresentable: 'any', override: withVariables }) as Json;
  return { $schema, title: 'Moniker project file', ...schema };
}

function withVariables({ jsonSchema, path }: { jsonSchema: Json; path: readonly (string | number)[] }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.type !== 'string' || path.at(-1) === 'propertyNames') return;
  const { type, pattern, format, minLength, maxLength, allOf, ...described } = jsonSchema;
  if (pattern === undefined && format === undefined && allOf === undefined) return;
  for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
  const plain = Object.entries({ type, pattern, format, minLength, maxLength, allOf }).filter(([, value]) => value !== undefined);
  Object.assign(jsonSchema, described, { anyOf: [Object.fromEntries(plain), variable] });
}

/**
 * `unset`: paths of the documents with a secret that has no value, such as `webhooks.triage`. Throws `invalid_request`. A `$schema` is ignored.
 */
export function readProject(value: unknown): { project: Project; unset: ReadonlySet<string>; warnings: Warning[] } {
  const settled = settleVariables(value);
  const parsed = parsePart(Project, settled.project);
  const issues = [...settled.issues, ...('issues' in parsed ? parsed.issues : [])];
  if ('issues' in parsed || issues.length > 0) throw invalidRequest(issues);
  const warnings = settled.unset.map(({ path, variable }) => ({
    path,
    message: `has no value: ${variable} is expanded by the command line only. A stored value stays`,
  }));
  return { project: parsed.data, unset: new Set(settled.unset.map(({ document }) => document)), warnings };
}
