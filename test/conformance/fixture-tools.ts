/**
 * The tools that the server scenarios of `@modelcontextprotocol/conformance` call, in both eras. The suite defines their names and texts.
 * Used by `upstream.ts`; the suite prints the descriptions of its scenarios.
 */
import {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequest,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

/** A red pixel, and a WAV file without a sample. */
export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

/** Between two log lines or two steps of progress: a client must receive one before the next is sent. */
const pauseMs = 50;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

/** `asksOpenly`: asks while the call is open, as tools of 2025 do, which the revision 2026-07-28 does not have. */
export function registerTools(server: McpServer, asksOpenly: boolean): void {
  registerContentTools(server);
  registerTalkingTools(server);
  registerAskingTools(server, asksOpenly);
}

function registerContentTools(server: McpServer): void {
  const say = (name: string, description: string, result: CallToolResult): void => {
    server.registerTool(name, { description }, () => result);
  };
  say('test_simple_text', 'Answers text.', text('This is a simple text response for testing.'));
  say('test_image_content', 'Answers an image.', { content: [{ type: 'image', data: png, mimeType: 'image/png' }] });
  say('test_audio_content', 'Answers audio.', { content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] });
  say('test_embedded_resource', 'Answers a resource.', {
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  });
  say('test_multiple_content_types', 'Answers content of several kinds.', {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  });
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'test_x_mcp_header',
    {
      description: 'Has a parameter that is also a header.',
      inputSchema: fromJsonSchema<{ region?: string }>({
        type: 'object',
        // The type has no keywords of extensions.
        properties: { region: Object.assign({ type: 'string' as const }, { 'x-mcp-header': 'Region' }) },
      }),
    },
    ({ region = '' }) => text(`region=${region}`),
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema<Record<string, unknown>>({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      }),
    },
    (given) => text(`JSON Schema 2020-12 tool called with: ${JSON.stringify(given)}`),
  );
}

function registerTalkingTools(server: McpServer): void {
  server.registerTool('test_streaming_elicitation', { description: 'Answers without a question.' }, () => text('Nothing was asked.'));
  server.registerTool('test_logging_tool', { description: 'Writes a line for those who want it.' }, async (context) => {
    await context.mcpReq.log('info', 'One line');
    return text('Written if it was wanted');
  });
  server.registerTool('test_tool_with_logging', { description: 'Writes to the log while it works.' }, async (context) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await context.mcpReq.log('info', line);
      await sleep(pauseMs);
    }
    return text('Tool with logging executed successfully');
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells how far it is.' }, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` },
      });
      await sleep(pauseMs);
    }
    return text(String(progressToken));
  });
  server.registerTool('test_reconnection', { description: 'Ends the stream of its answer before the answer.' }, async (context) => {
    context.http?.closeSSE?.();
    await sleep(2 * pauseMs);
    return text('Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure.');
  });
}

function registerAskingTools(server: McpServer, asksOpenly: boolean): void {
  const asked = async (context: ServerContext, question: InputRequest, finish: (answer: Answer) => string) => {
    if (asksOpenly) return text(finish(inputResponse({ question: await context.mcpReq.send(question) }, 'question')));
    const answer = inputResponse(context.mcpReq.inputResponses, 'question');
    return answer.kind === 'missing' ? inputRequired({ inputRequests: { question } }) : text(finish(answer));
  };
  // In any era by `input_required`, which is refused to a client without sampling.
  server.registerTool('test_missing_capability', { description: 'Requires sampling.' }, () => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say one word' } }];
    return inputRequired({ inputRequests: { word: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
  });
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of its client.', inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, context) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
      return asked(context, inputRequired.createMessage({ messages, maxTokens: 100 }), (answer) => {
        const said = answer.kind === 'sampling' && !Array.isArray(answer.result.content) ? answer.result.content : null;
        return `LLM response: ${said?.type === 'text' ? said.text : JSON.stringify(answer)}`;
      });
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user of its client.', inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) =>
      asked(
        context,
        form(message, { username: described("User's response"), email: described("User's email address") }, ['username', 'email']),
        (answer) => `User response: ${told(answer)}`,
      ),
  );
  server.registerTool('test_elicitation_sep1034_defaults', { description: 'Asks for what has defaults.' }, (context) =>
    asked(
      context,
      form('Please review and update the form fields with defaults', withDefaults),
      (answer) => `Elicitation completed: ${told(answer)}`,
    ),
  );
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks for choices.' }, (context) =>
    asked(context, form('Please select options from the enum fields', choices), (answer) => `Elicitation completed: ${told(answer)}`),
  );
}

type Answer = ReturnType<typeof inputResponse>;

function told(answer: Answer): string {
  if (answer.kind !== 'elicit') return JSON.stringify(answer);
  return `action=${answer.action}, content=${JSON.stringify(answer.action === 'accept' ? answer.content : {})}`;
}

type Properties = ElicitRequestFormParams['requestedSchema']['properties'];

const form = (message: string, properties: Properties, required?: string[]): InputRequest =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, ...(required && { required }) } });

const described = (description: string) => ({ type: 'string' as const, description });

const withDefaults: Properties = {
  name: { type: 'string', description: 'User name', default: 'John Doe' },
  age: { type: 'integer', description: 'User age', default: 30 },
  score: { type: 'number', description: 'User score', default: 95.5 },
  status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', description: 'Verification status', default: true },
};

const titled = (noun: string) => [
  { const: 'value1', title: `First ${noun}` },
  { const: 'value2', title: `Second ${noun}` },
  { const: 'value3', title: `Third ${noun}` },
];

const choices: Properties = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};
