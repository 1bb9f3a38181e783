/** A tool of a server as administrators see it, and the report of a listing. */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { ToolsetAlias } from '../names/toolset-alias.ts';
import { Warning } from '../problem.ts';
import { Finding, Hold } from '../tools/hold.ts';
import { ToolAnnotations } from '../tools/tool.ts';
import { DefinitionDecision } from './definition-review.ts';

/** `rejected`: an administrator rejected the listed definition. `refused`: the listed item is not a valid definition; `findings` say why. */
export const ServerToolState = z.enum(['ready', 'held', 'rejected', 'missing', 'refused']);

export const ServerTool = z
  .object({
    name: z.string(),
    canonical: z.string(),
    state: ServerToolState,
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: ToolAnnotations.optional(),
    aliases: z.array(ToolsetAlias).optional().meta({
      description: 'Default aliases from the listing: `aliases` of a static tool, `_meta.aliases` of an MCP tool.',
    }),
    annotationsAccepted: z.boolean().meta({
      description: 'An administrator accepted the annotations of this definition. They also count if the server is not `trusted`.',
    }),
    refId: z.string().meta({ description: 'SHA-256 of the definition in force. A toolset entry can refer to the tool by it.' }),
    held: Hold.optional(),
    findings: z.array(Finding).optional(),
    decisions: z.array(DefinitionDecision).optional().meta({
      description:
        'Decisions of administrators about definitions of this tool that can be undone, newest first. A rejection of another definition than the listed one is an earlier one.',
    }),
    renamedTo: z
      .string()
      .optional()
      .meta({ description: 'For a missing tool: the canonical name of a new tool with the same definition.' }),
  })
  .meta({ id: 'ServerTool' });
export type ServerTool = z.infer<typeof ServerTool>;

export const DecidedTool = ServerTool.extend({
  warnings: z
    .array(Warning)
    .meta({ description: 'Toolsets that conflict with the definition: the tool stays held in them until they are saved again.' }),
}).meta({ id: 'DecidedTool' });
export type DecidedTool = z.infer<typeof DecidedTool>;

/** A decision about many tools of a server. */
export const BulkDecision = z.strictObject({
  tools: z.union([z.literal('*'), z.array(z.string().min(1).max(512)).min(1).max(limits.maxServerTools)]).meta({
    description: '`*`: all tools that are held. Otherwise their own names, without the server’s.',
  }),
});
export type BulkDecision = z.infer<typeof BulkDecision> & { action: 'accept' | 'reject' };

export const DecidedTools = z
  .object({
    decided: z.array(z.string()),
    left: z.array(z.object({ name: z.string(), reason: z.string() })).meta({
      description: 'Tools that stay as they are, for example those with findings, each of which is accepted by itself.',
    }),
    warnings: z.array(Warning),
  })
  .meta({ id: 'DecidedTools' });
export type DecidedTools = z.infer<typeof DecidedTools>;

/** The tools of a document that was listed without being stored, as the first listing of a new server. */
export type GivenListing = { tools: ServerTool[]; warnings: Warning[] };

/** The result of a listing, by names without the server. */
export const ListingReport = z
  .object({
    server: z.string(),
    tools: z.int(),
    updated: z.array(z.string()).meta({ description: 'Tools whose changed definition is in force without a review.' }),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    held: z.array(z.string()).meta({ description: 'All tools that are currently held.' }),
    rejected: z.array(z.string()).meta({ description: 'All tools whose listed definition was rejected.' }),
    refused: z.array(z.string()),
    renames: z.array(z.object({ from: z.string(), to: z.string() })),
    warnings: z.array(Warning),
  })
  .meta({ id: 'ListingReport' });
export type ListingReport = z.infer<typeof ListingReport>;
