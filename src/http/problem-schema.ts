/** The schemas of errors for the OpenAPI document; `core/problem.ts` has the type and the catalogue. */
import { z } from 'zod';
import { problemCatalogue } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';

const codes = Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]]; // Object.keys forgets the literal type.

export const ProblemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong, and what to do.' }),
    code: z.enum(codes),
    requestId: z.string().optional(),
    issues: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'With `invalid_request`: every issue with its path, such as `tools[1].aliases[0]`.' }),
  })
  .meta({
    id: 'Problem',
    example: {
      type: 'urn:moniker:problem:not_found',
      title: 'There is no such thing',
      status: 404,
      detail: 'There is no toolset "demo".',
      code: 'not_found',
      requestId: 'req_1',
    },
  });

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
      data: z
        .looseObject({ code: z.enum(codes), requestId: z.string() })
        .partial()
        .optional(),
    }),
  })
  .meta({ id: 'RpcError' });
