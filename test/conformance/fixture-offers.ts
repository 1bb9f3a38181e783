/** The resources, the template and the prompts that the server scenarios of `@modelcontextprotocol/conformance` read. Used by `upstream.ts`. */
import { completable, ResourceTemplate, type McpServer, type PromptMessage } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { png } from './fixture-tools.ts';

export function registerResources(server: McpServer): void {
  const still = (name: string, mimeType: string, content: { text: string } | { blob: string }): void => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { description: `Fixture ${name}`, mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }));
  };
  still('static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  still('static-binary', 'image/png', { blob: png });
  still('watched-resource', 'text/plain', { text: 'Watched resource content' });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data by id', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

export function registerPrompts(server: McpServer): void {
  const user = (content: PromptMessage['content']): PromptMessage => ({ role: 'user', content });
  const words = (text: string): PromptMessage => user({ type: 'text', text });
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt without arguments' }, () => ({
    messages: [words('This is a simple prompt for testing.')],
  }));
  const completed = (values: string[]) => completable(z.string(), (value) => values.filter((each) => each.startsWith(value)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments',
      argsSchema: z.object({ arg1: completed(['paris', 'park', 'party', 'testValue1']), arg2: completed(['left', 'right']) }),
    },
    ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt that embeds a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        words('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => ({
    messages: [user({ type: 'image', data: png, mimeType: 'image/png' }), words('Please analyze the image above.')],
  }));
}
