/**
 * MCP Apps in a stock host: the pages of two instances of one app server, in one toolset, in the host of `@modelcontextprotocol/ext-apps`
 * (`AppBridge`) in a browser. The pages use its `App`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { offerSteps } from '../e2e/offer-steps.ts';
import { root } from '../e2e/service.ts';
import type { FakeTool } from '../fakes/mcp-server.ts';
import { describeConsole } from './console-tab.ts';

const page = 'ui://app/view.html';
const data = 'data://app/rows';

/** What the page of the app does: it shows the result of its tool, and what it reads and calls by the names of its own server. */
const appScript = `
  import { App } from '@modelcontextprotocol/ext-apps';
  const app = new App({ name: 'page', version: '1' });
  const show = (id, text) => document.body.insertAdjacentHTML('beforeend', '<p id="' + id + '"></p>') ?? (document.getElementById(id).textContent = text);
  app.ontoolresult = async ({ content }) => {
    show('result', content[0].text);
    const link = content.find(({ type }) => type === 'resource_link').uri;
    show('link', (await app.readServerResource({ uri: link })).contents[0].text);
    const tool = app.getHostContext().toolInfo.tool.name;
    show('again', (await app.callServerTool({ name: tool, arguments: {} })).content[0].text);
    show('own', await app.callServerTool({ name: 'save', arguments: {} }).then(({ content }) => content[0].text, (error) => error.message));
  };
  await app.connect();
`;

/** What a host does for each tool with a page, as in the README of the package. */
const hostScript = `
  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
  import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
  globalThis.openApps = async (url, key) => {
    const client = new Client({ name: 'host', version: '1' });
    const requestInit = { headers: { authorization: 'Bearer ' + key } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    for (const tool of (await client.listTools()).tools) {
      const uri = getToolUiResourceUri(tool);
      if (uri === undefined) continue;
      const { contents: [page] } = await client.readResource({ uri });
      if (page.uri !== uri || page.mimeType !== 'text/html;profile=mcp-app') throw new Error('not the page: ' + JSON.stringify(page).slice(0, 200));
      const frame = document.createElement('iframe');
      frame.name = tool.name;
      frame.sandbox = 'allow-scripts';
      document.body.append(frame);
      const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {}, serverResources: {} }, { hostContext: { toolInfo: { tool } } });
      bridge.oninitialized = async () => {
        await bridge.sendToolInput({ arguments: {} });
        await bridge.sendToolResult(await client.callTool({ name: tool.name, arguments: {} }));
      };
      await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
      frame.srcdoc = page.text;
    }
  };
`;

async function bundle(contents: string): Promise<string> {
  // In the folder of the packages, where the bundler finds them.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'mcp-apps-'));
  try {
    writeFileSync(join(folder, 'entry.js'), contents);
    const options = { bundle: true, write: false, format: 'esm', platform: 'browser', minify: true, charset: 'ascii' } as const;
    const { outputFiles } = await build({ ...options, entryPoints: [join(folder, 'entry.js')], logLevel: 'error' });
    return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeConsole(
  'two instances of an app server in a stock host',
  { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' },
  ({ service, openTab }) => {
    const { addServer, addToolset, keyFor } = offerSteps(service);
    let tab: Page;
    let faults: string[];

    const tool = (instance: string, name: string, more: object = {}): FakeTool => ({
      ...{ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true }, ...more },
      answer: () => ({
        content: [
          { type: 'text', text: `${name} of ${instance}` },
          { type: 'resource_link', uri: data, name: 'rows' },
        ],
      }),
    });

    beforeAll(async () => {
      const html = `<!doctype html><body><script type="module">${await bundle(appScript)}</script></body>`;
      for (const instance of ['north', 'south']) {
        const tools = [tool(instance, 'show', { _meta: { ui: { resourceUri: page } } }), tool(instance, 'save')];
        const resources = [{ uri: page, name: 'view', mimeType: 'text/html;profile=mcp-app' }];
        const read = (uri: string) =>
          uri === page ? { mimeType: 'text/html;profile=mcp-app', text: html } : { text: `${uri} at ${instance}` };
        await addServer(instance, { trusted: true }, { tools, resources, read });
      }
      await addToolset('both', { tools: ['north.show', 'north.save', 'south.show', 'south.save'].map((name) => ({ tool: name })) });
      const key = await keyFor('both');
      const script = await bundle(hostScript);
      ({ page: tab, faults } = await openTab());
      const host = `${service.url}/host.html`;
      const body = `<!doctype html><body><script type="module">${script}</script></body>`;
      await tab.route(host, (route) => route.fulfill({ contentType: 'text/html', body }));
      await tab.goto(host);
      await tab.evaluate(`openApps(${JSON.stringify(`${service.url}/mcp/both`)}, ${JSON.stringify(key)})`);
    });
    afterAll(async () => {
      await tab.context().close();
    });

    const frameOf = async (instance: string): Promise<Frame> => {
      await expect.poll(() => tab.frames().some((frame) => frame.name().includes(instance))).toBe(true);
      return tab.frames().find((frame) => frame.name().includes(instance)) as Frame;
    };
    const shown = async (instance: string, id: string): Promise<string | null> => {
      const frame = await frameOf(instance);
      await frame.waitForSelector(`#${id}`);
      return await frame.textContent(`#${id}`);
    };

    it.each(['north', 'south'])(
      'shows the page of %s, with the result of its tool and the resource that it linked to',
      async (instance) => {
        expect(await shown(instance, 'result')).toBe(`show of ${instance}`);
        expect(await shown(instance, 'link')).toBe(`${data} at ${instance}`);
        expect(await shown(instance, 'again')).toBe(`show of ${instance}`);
        expect(faults).toEqual([]);
      },
    );

    it('refuses a call by the own name of a tool that both instances have, and names both', async () => {
      for (const instance of ['north', 'south']) expect(await shown(instance, 'own')).toMatch(/north.*south/);
    });
  },
);
