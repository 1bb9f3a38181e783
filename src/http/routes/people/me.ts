/** `/v1/me`: what the key of the request is, what it may do, and the limits of its requests. */
import * as z from 'zod';
import { IpRange } from '../../../core/ip-address.ts';
import { limits } from '../../../core/limits/limits.ts';
import { poolBounds } from '../../../core/limits/pools.ts';
import { ModelPatterns } from '../../../core/model/model-name.ts';
import { SecretHost } from '../../../core/secrets/secret.ts';
import { Role, rootKeyId, Scope, User } from '../../../core/people/principal.ts';
import { UsageLimits } from '../../../core/usage-limits.ts';
import { defineRoute } from '../../route.ts';

const currentLimits = {
  maxBodyBytes: limits.maxBodyBytes,
  maxLargeBodyBytes: limits.maxLargeBodyBytes,
  maxFileBytes: limits.maxFileBytes,
  maxSessionFilesBytes: limits.maxSessionFilesBytes,
  maxPageItems: limits.maxPageItems,
  maxToolsetEntries: limits.maxToolsetEntries,
  maxStepsPerTurn: limits.maxStepsPerTurn,
  maxCallsPerTurn: limits.maxCallsPerTurn,
  turnTimeoutMs: limits.turnTimeoutMs,
  approvalTtlMs: limits.approvalTtlMs,
  maxOpenQuestions: poolBounds.openQuestions.perKey,
} as const;

const described: Readonly<Record<keyof typeof currentLimits, string>> = {
  maxBodyBytes: 'A JSON body.',
  maxLargeBodyBytes: 'A body of the chat APIs, of turns, skills and servers.',
  maxFileBytes: 'A file of a session.',
  maxSessionFilesBytes: 'All files of a session.',
  maxPageItems: '`limit` of a list.',
  maxToolsetEntries: 'Entries of a toolset.',
  maxStepsPerTurn: 'Model calls of a turn, unless its agent sets another limit.',
  maxCallsPerTurn: 'Tool calls of a turn, unless its agent sets another limit.',
  turnTimeoutMs: 'Working time of a turn, unless its agent sets another limit.',
  approvalTtlMs: 'How long a call waits for its approval before it is denied.',
  maxOpenQuestions: 'MCP calls of a key that wait for an answer at the same time.',
};

const Me = z
  .object({
    id: z.string(),
    name: z.string(),
    workspace: z.string(),
    scopes: z.array(Scope),
    toolsets: z
      .array(z.string())
      .optional()
      .meta({ description: 'The toolsets that the key is bound to. Absent: it is not bound to any.' }),
    agents: z.array(z.string()).optional().meta({ description: 'The agents that the key is bound to. Absent: it is not bound to any.' }),
    caller: z.record(z.string(), z.string()).optional(),
    user: User.optional().meta({ description: 'The person who is signed in. Absent: the request has a key.' }),
    role: Role.optional().meta({ description: 'The role of the person in the workspace. Absent: no person, or the root key.' }),
    usageLimits: UsageLimits.optional().meta({
      description: 'Limits of this key. `GET /v1/limits` has what is used of them. Absent: none.',
    }),
    models: ModelPatterns.optional().meta({ description: 'Patterns of the only models that this key may use. Absent: all.' }),
    egressHosts: z
      .array(SecretHost)
      .optional()
      .meta({ description: 'The only hosts that tools called with this key may reach. Absent: all.' }),
    ips: z.array(IpRange).optional().meta({ description: 'Where requests with this key may come from. Absent: from everywhere.' }),
    createdAt: z.iso.datetime().nullable().meta({ description: 'null: the root key, which comes from the settings.' }),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'null: the key does not expire.' }),
    limits: z.object(
      Object.fromEntries(Object.entries(described).map(([name, description]) => [name, z.int().meta({ description })])) as Record<
        keyof typeof currentLimits,
        z.ZodInt
      >,
    ),
  })
  .meta({
    id: 'Me',
    example: {
      id: 'k7pd2mxw4q',
      name: 'my app',
      workspace: 'default',
      scopes: ['chat'],
      agents: ['demo'],
      createdAt: '2026-01-01T00:00:00.000Z',
      expiresAt: null,
      limits: currentLimits,
    },
  });

export const meRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/me',
      operationId: 'getMe',
      tag: 'Keys',
      scopes: ['chat', 'tools', 'toolsets', 'approve', 'admin'],
      summary: 'Read the key of this request',
      description: 'Any key may read itself: its scopes, its bindings, when it expires, and the limits that apply to it.',
      answers: { 200: { description: 'The key, without its secret.', schema: Me } },
    },
    async ({ answer, services, principal }) => {
      const { keyId: id, workspace, scopes, toolsets, agents, caller, user, role, limits: own, models, egressHosts, ips } = principal;
      const { name, createdAt, expiresAt } =
        id === rootKeyId || user !== undefined
          ? { name: user?.name ?? rootKeyId, createdAt: null, expiresAt: null }
          : await services.catalog(workspace).key(id);
      const bindings = {
        ...(toolsets && { toolsets }),
        ...(agents && { agents }),
        ...(caller && { caller }),
        ...(user && { user }),
        ...(role && { role }),
        ...(own?.key && { usageLimits: own.key }),
        ...(models && { models }),
        ...(egressHosts && { egressHosts }),
        ...(ips && { ips }),
      };
      return answer(200, { id, name, workspace, scopes, ...bindings, createdAt, expiresAt, limits: currentLimits });
    },
  ),
];
