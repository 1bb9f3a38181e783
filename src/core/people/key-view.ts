/** A key as it is listed. `warnings` are those of the moment; the others are what is stored. */
import * as z from 'zod';
import { IpRange } from '../ip-address.ts';
import { CachePolicy } from '../model/cache/cache-policy.ts';
import { ModelPatterns } from '../model/model-name.ts';
import { Warning } from '../problem.ts';
import { SecretHost } from '../secrets/secret.ts';
import { UsageLimits } from '../usage-limits.ts';
import { Scope } from './principal.ts';

export const KeyView = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(Scope),
    toolsets: z.array(z.string()).optional(),
    agents: z.array(z.string()).optional(),
    caller: z.record(z.string(), z.string()).optional(),
    limits: UsageLimits.optional(),
    models: ModelPatterns.optional(),
    cache: CachePolicy.optional(),
    egressHosts: z.array(SecretHost).optional(),
    ips: z.array(IpRange).optional(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    revokedAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable(),
    rotatedAt: z.iso.datetime().nullable(),
    previousExpiresAt: z.iso.datetime().nullable().meta({ description: 'Until when an earlier secret works. null: none does.' }),
    previousUsedAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When an earlier secret that still works was last used after the rotation, to the minute. null: not.' }),
    warnings: z
      .array(Warning)
      .optional()
      .meta({ description: 'The key expires within a week, or a client still sends an earlier secret. Absent: none.' }),
  })
  .meta({ id: 'Key' });
export type KeyRecord = Omit<z.infer<typeof KeyView>, 'warnings'>;
