/** The schemas of errors of the dialects for the OpenAPI document; `core/problem.ts` has our own. */
import * as z from 'zod';
import { ProblemSchema } from '../core/problem.ts';

export const OpenAiErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable().meta({ description: 'The code of a provider’s error, or else the `code` of other paths.' }),
    }),
  })
  .meta({ id: 'OpenAiError' });

export const AnthropicErrorSchema = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.string(),
      message: z.string(),
      details: z.looseObject({ error_code: z.string() }).meta({
        description:
          '`error_code`: the code of a provider’s error, or else the `code` of other paths, or one of Anthropic’s. The stock client shows it as `errorCode`.',
      }),
    }),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AnthropicError' });

export const GoogleErrorSchema = z
  .object({
    error: z.object({
      code: z.int().meta({ description: 'The HTTP status.' }),
      message: z.string(),
      status: z.string().meta({ description: 'A code of google.rpc.Code, such as `INVALID_ARGUMENT`.' }),
      details: z.array(z.looseObject({ '@type': z.string() })).meta({
        description:
          'google.rpc.ErrorInfo, whose `reason` is the code of a provider’s error, or else the `code` of other paths; BadRequest with the places of faults; RetryInfo.',
      }),
    }),
  })
  .meta({ id: 'GoogleError' });

export const OAuthErrorSchema = z
  .object({ error: z.string().meta({ description: 'A code of RFC 6749 or RFC 7591.' }), error_description: z.string().optional() })
  .meta({ id: 'OAuthError', example: { error: 'invalid_grant', error_description: 'Invalid authorization code' } });

/** For `/mcp`. Errors of the MCP server itself, such as an expired session, have no `data.code`. */
export const RpcErrorSchema = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    error: z.object({
      code: z.int(),
      message: z.string().meta({ description: 'What is wrong, and what to do.' }),
      data: z.looseObject({ code: ProblemSchema.shape.code, requestId: z.string() }).partial().optional(),
    }),
  })
  .meta({ id: 'RpcError' });
