/** Requests of Gemini's API in neutral form: contents, calls and their results, tools and settings, in both spellings. */
import { describe, expect, it } from 'vitest';
import { packNative } from '../../../src/core/model/native-token.ts';
import { Problem } from '../../../src/core/problem.ts';
import { packThoughts, unpackThoughts, withoutThoughts } from '../../../src/dialects/gemini/signature.ts';
import { readGeminiRequest } from '../../../src/dialects/gemini/request.ts';

type Json = Record<string, unknown>;
const hello = { role: 'user', parts: [{ text: 'Hello' }] };
const read = (body: Json) => readGeminiRequest({ model: 'a/b', stream: false, contents: [hello], ...body });
const historyOf = (contents: unknown[], body: Json = {}) => read({ contents, ...body }).conversation({ whole: true });
const issuesOf = (body: Json): string[] => {
  try {
    const request = read(body);
    request.conversation({});
    request.clientTools();
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.extra.issues as { path: string }[]).map(({ path }) => path);
  }
};
const call = (fields: Json) => ({ functionCall: { name: 'look', args: {}, ...fields } });
const response = (fields: Json) => ({ functionResponse: { name: 'look', response: { output: 'ok' }, ...fields } });
const model = (...parts: unknown[]) => ({ role: 'model', parts });
const user = (...parts: unknown[]) => ({ role: 'user', parts });

describe('the contents', () => {
  it('are read in both spellings, and what is free in them stays', () => {
    const request = read({
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        hello,
        model({ function_call: { id: 'c', name: 'look', args: { snake_case: 1 } } }),
        user({ function_response: { id: 'c', name: 'look', response: { also_snake: 2 } } }),
      ],
      generation_config: { max_output_tokens: 5 },
    });
    const { history, results, system } = request.conversation({});
    expect(history.at(-1)).toMatchObject({ role: 'assistant', parts: [{ arguments: { snake_case: 1 } }] });
    expect(results).toMatchObject([{ callId: 'c', content: [{ type: 'text', text: '{"also_snake":2}' }] }]);
    expect([system, request.settings().maxOutputTokens]).toEqual(['Be brief.', 5]);
  });

  it.each([
    [{ output: 'text' }, 'text', false],
    [{ result: 'text' }, 'text', false],
    [{ result: { a: 1 } }, '{"a":1}', false],
    [{ error: 'No.' }, 'No.', true],
    [{ output: 'a', error: null }, '{"output":"a","error":null}', false],
    [{}, '{}', false],
  ])('have the result %j as text', (given, text, isError) => {
    const { results } = read({ contents: [hello, model(call({ id: 'c' })), user(response({ id: 'c', response: given }))] }).conversation(
      {},
    );
    expect(results).toEqual([{ callId: 'c', isError, content: [{ type: 'text', text }] }]);
  });

  it('pair responses without ids with the calls of their name, in order', () => {
    const { history, results } = read({
      contents: [hello, model(call({}), call({ name: 'find' }), call({})), user(response({}), response({ name: 'find' }), response({}))],
    }).conversation({});
    const [, said] = history;
    const ids = said?.role === 'assistant' ? said.parts.map((part) => (part.type === 'tool-call' ? part.callId : '')) : [];
    expect(new Set(ids).size).toBe(3);
    expect(results.map(({ callId }) => callId)).toEqual(ids);
  });

  it('may come in pieces of one message, as the SDK keeps those of a stream', () => {
    const { history } = historyOf([hello, model({ text: 'Hel' }), model({ text: 'lo' }), model({ text: '' }), hello]);
    expect(history).toMatchObject([{ role: 'user' }, { role: 'assistant', parts: [{ text: 'Hel' }, { text: 'lo' }] }, { role: 'user' }]);
  });

  it('take files in the base64 of URLs, and refuse stored ones with their place', () => {
    const { history } = historyOf([user({ inlineData: { mimeType: 'image/png', data: '_-8=' } })]);
    expect(history).toMatchObject([{ parts: [{ type: 'image', data: '/+8=' }] }]);
    for (const fileUri of ['gs://bucket/a.pdf', 'https://generativelanguage.googleapis.com/v1beta/files/abc'])
      expect(issuesOf({ contents: [user({ text: 'x' }, { fileData: { mimeType: 'application/pdf', fileUri } })] })).toEqual([
        'contents[0].parts[1].fileData',
      ]);
  });

  it.each<[string, Json]>([
    ['contents', { contents: [] }],
    ['contents', { contents: 'Hello' }],
    ['contents', { contents: [user()] }],
    ['contents[0].role', { contents: [{ role: 'system', parts: [{ text: 'x' }] }] }],
    ['contents[0].parts[0]', { contents: [user({ unheardOf: 1 })] }],
    ['contents[1].parts[0].functionCall.name', { contents: [hello, model({ functionCall: { args: {} } })] }],
    ['contents[0].parts[0].functionResponse.name', { contents: [user({ functionResponse: { response: {} } })] }],
    ['contents[0].parts[0].inlineData', { contents: [user({ inlineData: { mimeType: 'image/png', data: '!' } })] }],
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 0 } }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
    ['tools[0].functionDeclarations[0].name', { tools: [{ functionDeclarations: [{ name: 'a b' }] }] }],
    ['tools[0].functionDeclarations[0].parameters', { tools: [{ functionDeclarations: [{ name: 'a', parameters: 'x' }] }] }],
    ['tools[1].urlContext', { tools: [{}, { urlContext: {} }] }],
    ['cachedContent', { cachedContent: 'cachedContents/x' }],
  ])('are refused at %s of %j', (path, body) => {
    expect(issuesOf(body)[0]).toBe(path);
  });
});

describe('the tools', () => {
  const declared = (fields: Json, toolConfig: Json = {}) =>
    read({
      tools: [{ functionDeclarations: [{ name: 'look', ...fields }, { name: 'find' }] }],
      toolConfig: { functionCallingConfig: toolConfig },
    });

  it('have their schemas as JSON Schema, in either form', () => {
    const parameters = {
      type: 'OBJECT',
      properties: { at: { type: 'STRING', nullable: true }, of: { type: 'ARRAY', items: { any_of: [{ type: 'NUMBER' }] }, minItems: '2' } },
      propertyOrdering: ['of', 'at'],
      required: ['at'],
    };
    const schema = {
      type: 'object',
      properties: { at: { type: ['string', 'null'] }, of: { type: 'array', items: { anyOf: [{ type: 'number' }] }, minItems: 2 } },
      required: ['at'],
    };
    expect(declared({ parameters }).clientTools()?.[0]?.inputSchema).toEqual(schema);
    expect(declared({ parametersJsonSchema: schema }).clientTools()?.[0]?.inputSchema).toEqual(schema);
  });

  it.each<[Json, unknown, string[]]>([
    [{ mode: 'AUTO' }, 'auto', ['look', 'find']],
    [{ mode: 'ANY' }, 'required', ['look', 'find']],
    [{ mode: 'any', allowedFunctionNames: ['find'] }, { tool: 'find' }, ['find']],
    [{ mode: 'ANY', allowedFunctionNames: ['find', 'look'] }, 'required', ['look', 'find']],
    [{ mode: 'NONE' }, 'none', ['look', 'find']],
    [{ mode: 'VALIDATED', allowedFunctionNames: ['look'] }, undefined, ['look']],
  ])('are chosen by %j', (config, choice, names) => {
    const request = declared({}, config);
    expect([request.settings().toolChoice, request.clientTools()?.map(({ name }) => name)]).toEqual([choice, names]);
  });
});

describe('the settings', () => {
  it.each<[Json, Json]>([
    [{ thinkingConfig: { thinkingBudget: -1 } }, {}],
    [{ thinkingConfig: { thinkingBudget: 0 } }, { reasoningBudget: 0 }],
    [{ thinkingConfig: { thinkingLevel: 'HIGH' } }, { reasoningEffort: 'high' }],
    [{ responseMimeType: 'text/plain' }, {}],
    [{ responseMimeType: 'application/json' }, { responseFormat: { type: 'json_object' } }],
    [
      { responseMimeType: 'application/json', responseSchema: { type: 'STRING', enum: ['a'] } },
      { responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'string', enum: ['a'] } } } },
    ],
  ])('are %j', (generationConfig, settings) => {
    expect(read({ generationConfig }).settings()).toEqual(settings);
  });

  it('names a format that only Gemini has', () => {
    expect(read({ generationConfig: { responseMimeType: 'text/x.enum' } }).dropped.items()).toMatchObject([
      { name: 'generationConfig.responseMimeType' },
    ]);
  });
});

describe('a signature', () => {
  const native = { type: 'native' as const, provider: 'claude', data: { api: 'anthropic', type: 'thinking', signature: 'Zm9v' } };
  const thought = { type: 'reasoning' as const, text: 'Hm – 18°?' };
  const token = packThoughts({ before: [thought, native], after: [native] }) ?? '';

  it('is base64, survives a client that decodes it, and has the thinking that the client has left out', () => {
    expect(token).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(token.length % 4).toBe(0);
    const again = Buffer.from(token, 'base64');
    for (const written of [again.toString('base64'), again.toString('base64url'), token.replaceAll('+', '-').replaceAll('/', '_')]) {
      const [, said] = historyOf([hello, model({ ...call({ id: 'c' }), thoughtSignature: written }), user(response({ id: 'c' }))]).history;
      expect(said).toMatchObject({ parts: [thought, native, { type: 'tool-call', callId: 'c' }, native] });
    }
  });

  it('does not repeat thinking that the client has returned', () => {
    const parts = [
      { text: 'Hm – 18°?', thought: true },
      { ...call({ id: 'c' }), thoughtSignature: token },
    ];
    const [, said] = historyOf([hello, model(...parts), user(response({ id: 'c' }))]).history;
    expect(said?.parts.map(({ type }) => type)).toEqual(['reasoning', 'native', 'tool-call', 'native']);
  });

  it('is not needed where a model needs nothing back', () => {
    expect(packThoughts({ before: [thought], after: [] })).toBeNull();
  });

  it('of its provider is sent to it also in the form of Chat Completions, and named where nothing takes it', () => {
    const contents = [hello, model({ ...call({ id: 'c' }), thoughtSignature: 'c2ln' }), user(response({ id: 'c' }))];
    expect(historyOf(contents).history[1]?.parts.slice(1)).toMatchObject([
      { provider: 'a', data: { api: 'openai-chat', callFields: { extra_content: { google: { thought_signature: 'c2ln' } } } } },
      { provider: 'a', data: { api: 'gemini', of: 'call', thoughtSignature: 'c2ln' } },
    ]);
    const ofAgent = read({ model: 'agent/x', contents });
    ofAgent.conversation({});
    expect(ofAgent.dropped.items()).toMatchObject([{ name: 'contents[].parts[].thoughtSignature' }]);
  });

  it.each([
    ['cut', token.slice(0, -5)],
    [
      'of other content',
      `moniker/${Buffer.from('{"provider":"","data":{"before":[{"type":"tool-call"}],"after":[7]}}').toString('base64')}`,
    ],
    ['without data', 'moniker/'],
    ['deep', `moniker/${Buffer.from(`{"provider":"","data":${'['.repeat(5000)}${']'.repeat(5000)}}`).toString('base64')}`],
  ])('that was forged (%s) adds nothing', (_how, thoughtSignature) => {
    expect(unpackThoughts(thoughtSignature)).toEqual({ before: [], after: [] });
    const [, said] = historyOf([hello, model({ ...call({ id: 'c' }), thoughtSignature }), user(response({ id: 'c' }))]).history;
    expect(said?.parts.map(({ type }) => type)).toEqual(['tool-call']);
  });

  it('is not sent to a provider of the same API, which gets the placeholder of its guide for calls', () => {
    const body = {
      contents: [
        hello,
        model({ ...call({}), thoughtSignature: token }, { text: '', thought_signature: token }, { text: 'x', thoughtSignature: token }),
        model({ text: '', thoughtSignature: token }),
      ],
    };
    expect(withoutThoughts(body)).toEqual({
      contents: [hello, model({ ...call({}), thoughtSignature: 'skip_thought_signature_validator' }, { text: 'x' })],
    });
    const own = { contents: [hello, model({ ...call({}), thoughtSignature: 'c2ln' })] };
    expect(withoutThoughts(own)).toBe(own);
    expect(JSON.stringify(own)).not.toContain(packNative(native) ?? 'moniker');
  });
});
