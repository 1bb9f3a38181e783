/** The settings of a workspace: how long its records are kept, what its request log contains, when its keys expire, and names of its tools. One document, with defaults. */
import * as z from 'zod';
import { Problem, quoted } from '../problem.ts';
import { GuardEndpoint } from '../policy/guard.ts';
import { ModelPatterns } from '../model/model-name.ts';
import { Redaction } from '../redaction/redaction.ts';
import { NameMap } from '../toolset/toolset.ts';
import { UsageLimits } from '../usage-limits.ts';

const days = (maximum: number) => z.int().min(1).max(maximum);

const Retention = z.strictObject({
  auditDays: days(3_650).default(90).meta({ description: 'How long rows of `GET /v1/audit` are kept.' }),
  requestDays: days(365).default(30).meta({ description: 'How long rows of `GET /v1/requests` are kept.' }),
  usageDays: days(3_650).default(400).meta({ description: 'How long the daily figures of `GET /v1/usage` are kept.' }),
  sessionDays: days(3_650)
    .nullable()
    .default(null)
    .meta({ description: 'Sessions that were not used for this long are deleted with their files. null: never.' }),
  versions: z
    .int()
    .min(2)
    .max(1_000)
    .default(100)
    .meta({ description: 'How many versions of a document are kept. Versions that something names are kept in any case.' }),
});

const RequestLog = z.strictObject({
  bodies: z.boolean().default(false).meta({
    description:
      'Whether `GET /v1/requests/{request}` has the bodies of requests without a turn and of their responses, which contain what people write. Switching it off deletes the stored ones.',
  }),
});

const Keys = z.strictObject({
  expiryDays: days(3_650)
    .nullable()
    .default(null)
    .meta({ description: 'After how many days a new key expires whose request has no `expiresAt`. null: never.' }),
});

export const WorkspaceSettings = z.strictObject({
  guard: GuardEndpoint.nullable().default(null).meta({
    description: 'An endpoint that is asked before each tool call and after each result, and may deny or change them. null: none.',
  }),
  retention: Retention.prefault({}),
  requestLog: RequestLog.prefault({}),
  keys: Keys.prefault({}),
  limits: UsageLimits.default({}).meta({ description: 'Limits of all keys, agents, webhooks and schedules of the workspace together.' }),
  models: ModelPatterns.nullable().default(null).meta({
    description: 'Patterns of the only models that all keys, people, agents, webhooks and schedules of the workspace may use. null: all.',
  }),
  redaction: Redaction.nullable().default(null).meta({
    description: 'Rules for texts that are replaced by labels in results and logs. null: none.',
  }),
  nameMap: NameMap.default({}).meta({
    description:
      'Further names of tools, as hidden aliases in every toolset that has the tool: name → any name of a tool. A name that a toolset uses itself is left out there.',
  }),
});
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>;

/** The form of the names in keys (`key.ts`). */
export const WorkspaceName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, {
    message: 'must be 1 to 50 lower-case letters, digits and hyphens, without a hyphen at either end',
  })
  .meta({ example: 'acme' });

/** Always exists, and cannot be deleted. Its Catalog has the registry of the others. */
export const defaultWorkspace = 'default';

export function unknownWorkspace(name: string): Problem {
  return new Problem('not_found', `There is no workspace ${quoted(name)}.`);
}

export const WorkspaceStatus = z.enum(['active', 'deleting', 'deleted']);
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>;

/** Body of a PUT: what is left out has its default. */
export const Workspace = z
  .strictObject({ settings: WorkspaceSettings.prefault({}) })
  .meta({ id: 'Workspace', example: { settings: { retention: { auditDays: 30 } } } });
export type Workspace = z.infer<typeof Workspace>;

export const defaultWorkspaceSettings: WorkspaceSettings = WorkspaceSettings.parse({});
