import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { buildAliasMap, extendAliasMap, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import { findToolsTool } from '../../../src/core/toolset/injected-tool.ts';
import { searchTools } from '../../../src/core/toolset/tool-index.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { corpusEntries, corpusTools } from '../../fakes/corpus-tools.ts';
import { describeCorpus } from '../../fixtures.ts';
import { printStatistics } from '../../statistics.ts';

const known = knownTools(
  [
    toolOf('github', 'create_issue', { description: 'Opens a new issue in a repository.' }),
    toolOf('github', 'listPullRequests', { description: 'Lists pull requests.' }),
    toolOf('web', 'websearch', { description: 'Looks things up.' }),
    toolOf('files', 'read', {
      description: 'Reads a file.',
      inputSchema: { type: 'object', properties: { filePath: { type: 'string' } } },
    }),
    toolOf('files', 'copy', {
      description: 'Copies things.',
      inputSchema: { type: 'object', properties: { targetFolder: { type: 'string' } } },
    }),
    toolOf('maps', 'geocode', { description: '地名から緯度と経度を検索します。' }),
    toolOf('maps', 'resume', { description: 'Résumé of a café.' }),
    toolOf('ui', 'chart', { kind: 'ui', description: 'Draws a chart.' }),
    toolOf('builtin', 'find_tools', { description: 'Finds tools for any issue.' }),
  ],
  ['sleepy'],
);
const tools = [
  { tool: 'github.create_issue', aliases: ['new_ticket', { name: 'bugreport', mode: 'hidden' }] },
  { tool: 'github.listPullRequests', notes: [{ name: 'when', note: 'Prefer it for reviews.' }] },
  ...['web.websearch', 'files.read', 'files.copy', 'maps.geocode', 'maps.resume', 'ui.chart', 'builtin.find_tools', 'sleepy.charts'].map(
    (tool) => ({
      tool,
      aliases: [],
    }),
  ),
];
const map: AliasMap = buildAliasMap((await compile({ tools }, known)).edition, { aliases: true });
const search = (query: string, max = 5, names = map): string[] => searchTools(names, query, max).map(({ canonical }) => canonical);

describe('searchTools', () => {
  it.each(['youtube', 'YouTube', 'Get a YouTube video', 'from youtube'])(
    'finds a product name in any capitalization: %s',
    async (query) => {
      const written = knownTools([
        toolOf('a', 'fetch_from_youtube', { description: 'Fetches.' }),
        toolOf('b', 'cut', { description: 'Cuts what is on YouTube.' }),
        toolOf('c', 'other', { description: 'Counts.' }),
      ]);
      const listed = await compile({ tools: ['a.fetch_from_youtube', 'b.cut', 'c.other'].map((tool) => ({ tool })) }, written);
      expect(search(query, 5, buildAliasMap(listed.edition, { aliases: true })).sort()).toEqual(['a.fetch_from_youtube', 'b.cut']);
    },
  );

  it.each([
    ['create issue', 'github.create_issue'],
    ['creating issues', 'github.create_issue'],
    ['github.create_issue', 'github.create_issue'],
    ['CreateIssue', 'github.create_issue'],
    ['open a ticket', 'github.create_issue'],
    ['bug report', 'github.create_issue'],
    ['pull request', 'github.listPullRequests'],
    ['LISTPULLREQUESTS', 'github.listPullRequests'],
    ['reviews', 'github.listPullRequests'],
    ['web search', 'web.websearch'],
    ['files', 'files.read'],
    ['folder', 'files.copy'],
    ['経度', 'maps.geocode'],
    ['緯度を調べる', 'maps.geocode'],
    ['resume of a cafe', 'maps.resume'],
  ])('for %j returns first %s', (query, canonical) => {
    expect(search(query)[0]).toBe(canonical);
  });

  it.each(['', '   ', '?!', 'the', 'zzzz', 'chart', '経', 'constructor', '__proto__'])('finds nothing for %j', (query) => {
    expect(search(query)).toEqual([]);
  });

  it('returns at most the requested number, the best ones', () => {
    const all = search('issue request file', 10);
    expect(all.length).toBeGreaterThan(2);
    expect(search('issue request file', 2)).toEqual(all.slice(0, 2));
  });

  it('finds only tools that the plan allows', () => {
    const narrow = buildAliasMap(map.edition, { aliases: true, allow: ['files.read'] });
    expect(search('create issue', 5, narrow)).toEqual([]);
    expect(search('read file', 5, narrow)).toEqual(['files.read']);
  });

  it("finds the toolset's tools, but not tools that a turn has added", () => {
    const client = { ...findToolsTool, wireName: 'issue_helper', ownName: 'issue_helper', canonical: 'client.issue_helper' } as EditionTool;
    expect(search('issue', 10, extendAliasMap(map, [findToolsTool, client]))).toEqual(['github.create_issue']);
  });

  it('ignores aliases where they are switched off', () => {
    const off = buildAliasMap(map.edition, { aliases: false });
    expect([search('ticket', 5, off), search('create issue', 5, off)]).toEqual([[], ['github.create_issue']]);
  });

  it('finds every tool by each of its names, in any case', () => {
    const names = map.tools.filter(({ state, kind, ownName }) => state === 'ready' && kind !== 'ui' && ownName !== 'find_tools');
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(3), fc.func(fc.boolean()), (tool, which, upper) => {
        const spelled = [tool.wireName, tool.ownName, tool.canonical, ...tool.aliases.map(({ name }) => name)];
        const name = spelled[which % spelled.length] ?? '';
        const query = Array.from(name, (letter, index) => (upper(index) ? letter.toUpperCase() : letter)).join('');
        expect(search(query)).toContain(tool.canonical);
      }),
    );
  });

  it('returns the same result each time, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (query) => {
        const found = search(query);
        expect(search(query)).toEqual(found);
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });
});

/** Plain questions with the right tools: `|` separates equally good ones. */
const questions: readonly [question: string, answers: string][] = [
  ['open an issue in a GitHub repository', 'github.issue_write|github.create_issue'],
  ['list the pull requests of a repository', 'github.list_pull_requests|github.search_pull_requests'],
  ['what did I change in git since the last commit', 'git.git_diff_unstaged|git.git_diff|git.git_status|git.git_diff_staged'],
  ['commit the staged files', 'git.git_commit'],
  ['create a new branch with git', 'git.git_create_branch|git.git_branch|github.create_branch'],
  ['search for apartments on Airbnb', 'airbnb.airbnb_search'],
  ['train tickets between two stations in China', 's12306-mcp.get-tickets|s12306-mcp.get-interline-tickets'],
  ['download an arXiv paper', 'arxiv-mcp-server.download_paper'],
  ['current price of bitcoin', 'mcp-crypto-price.get-crypto-price|asset-price.get_asset_price'],
  ['stock price history of a ticker', 'yfmcp.get_price_history|investor.get_price_history|yahoo-finance.get_historical_stock_prices'],
  ['who owns this domain name', 'whois.whois_domain'],
  ['weather in a city', 'weather.get_weather_by_city|weather.get_weather'],
  ['convert a time to another time zone', 'time.convert_time'],
  ['what time is it now', 'time.get_current_time'],
  ['send an email with Gmail', 'gmail-mcp.sendMessage'],
  ['run a SQL query against the database', 'database-server.query_database|database-server.execute_sql|sqlite-mcp-server.read_query'],
  ['describe the columns of a database table', 'database-server.describe_table|sqlite-mcp-server.describe_table'],
  ['get the logs of a Kubernetes pod', 'kubectl-mcp-server.get_logs'],
  ['list all Kubernetes namespaces', 'kubectl-mcp-server.get_namespaces'],
  ['create a Docker container', 'docker-mcp.create-container'],
  ['merge several PDF files', 'doc-processing.pdf_merger'],
  ['extract text from a PDF', 'pdf-reader-mcp.read_pdf|doc-processing.document_reader'],
  ['add a heading to a Word document', 'word-document-server.add_heading'],
  ['read a sheet of an Excel workbook', 'excel.excel_read_sheet'],
  ['add a slide with bullet points to a presentation', 'ppt.add_slide|ppt.add_bullet_points'],
  ['draw a bar chart', 'mcp-server-chart.generate_bar_chart|ppt.add_chart'],
  ['make a mind map', 'mcp-server-chart.generate_mind_map|mindmap.convert_markdown_to_mindmap'],
  ['transcript of a YouTube video', 'youtube-transcript.get_transcript'],
  ['summary of a Wikipedia article', 'wikipedia.get_summary|wikipedia.summarize_article_for_query'],
  [
    'take a screenshot of the web page',
    'puppeteer.puppeteer_screenshot|playwright.browser_take_screenshot|playwright-executeautomation.playwright_screenshot',
  ],
  ['fill in a form in the browser', 'playwright.browser_fill_form'],
  ['route and directions between two places', 'osm-mcp-server.get_route_directions'],
  ['where can I charge my electric car', 'osm-mcp-server.find_ev_charging_stations'],
  ['create an invoice in Stripe', 'stripe-remote.create_invoice'],
  ['refund a payment', 'stripe-remote.create_refund'],
  ['delete a user in Okta', 'okta-mcp-server.delete_deactivated_user|okta-mcp-server.deactivate_user'],
  ['vulnerabilities of an npm package', 'npm-sentinel-mcp.npmVulnerabilities'],
  ['latest release of a Maven dependency', 'maven-deps-server.get_latest_release'],
  ['roll a random number', 'random-number.random_int|random-number.secure_random_int'],
  ['top stories of Hacker News', 'hackernews.getStories'],
  [
    'list the files of a directory',
    'filesystem.list_directory|desktop-commander.list_directory|basic-memory.list_directory|filesystem.list_directory_with_sizes',
  ],
  ['rename a file', 'filesystem.move_file|desktop-commander.move_file'],
  ['today’s LeetCode challenge', 'leetcode.get-daily-challenge'],
  ['make a chess move', 'chess.make_move'],
  ['what shall I cook for dinner', 'howtocook-mcp.mcp_howtocook_whatToEat|howtocook-mcp.mcp_howtocook_recommendMeals'],
  ['place a buy order for shares', 'zerodha-kite.place_order'],
  ['shorten a URL', 'openai-hosted-zip1.create_short_url'],
  ['publish the website', 'webflow-remote.sites_publish'],
  ['write a note to memory', 'basic-memory.write_note'],
  ['tempo of a song in beats per minute', 'music-analysis.tempo|music-analysis.beat_track'],
  ['clinical trials for a disease', 'biomcp.trial_searcher'],
  ['fear and greed index', 'investor.get_cnn_fear_greed_index|investor.get_crypto_fear_greed_index'],
  ['查询火车票', 's12306-mcp.get-tickets|s12306-mcp.get-interline-tickets'],
  ['exchange rate from euro to dollar', 'exchange-rate-mcp.exchange_rate'],
  ['validate a mermaid diagram', 'mermaid-validator.validateMermaid'],
  ['quality gate of a SonarQube project', 'sonarqube.get_project_quality_gate_status'],
];

describeCorpus('mcp-tools', (path) => {
  it('returns the right tool among the first five for 90% of plain questions', async () => {
    const all = corpusTools(path);
    const tools = corpusEntries(all).map((entry) => ({ ...entry }));
    const toolset = { announce: 'none' as const, tools };
    const { edition } = await compileEdition({ workspace: 'w', name: 'all', toolset, known: knownTools(all) });
    const names = buildAliasMap(edition, { aliases: true });
    const ranks = questions.map(([question, answers]) => {
      const found = searchTools(names, question, 20).map(({ canonical }) => canonical as string);
      const rank = found.findIndex((canonical) => answers.split('|').includes(canonical));
      return { question, rank, found };
    });
    const among = (count: number): number => ranks.filter(({ rank }) => rank >= 0 && rank < count).length;
    printStatistics(`find_tools over ${all.length} tools: ${among(1)} first, ${among(5)} of ${ranks.length} among the first five`);
    for (const { question, rank, found } of ranks)
      if (rank < 0 || rank >= 5) printStatistics(`  ${rank}: ${question}: ${found.slice(0, 6).join(', ')}`);
    expect(edition.tools).toHaveLength(1_472);
    expect(among(5) / ranks.length).toBeGreaterThanOrEqual(0.9);
  });
});
