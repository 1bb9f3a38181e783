/**
 * `node build-console.ts [folder]`: builds the documents of `src/console/` as static files: `<page>.html`, and its scripts and style in
 * `assets/` under names with a content hash. A folder of `pages/` without `index.html` is a view of the console, loaded on demand with its style `<view>.css`. wrangler runs this before it bundles (`[build]` in wrangler.toml); `bundle.ts` runs it for `npm start`.
 * The guide is added as `guide/<page>.html`. What exceeds its size budget fails the build.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { readGuide } from './build-guide.ts';
import { bundleOptions } from './bundle-options.ts';
import { projectRoot } from '../launch/environment.ts';
import { replaceFile } from '../launch/own-file.ts';
import { runLocalScript, StartFailure } from '../launch/start-failure.ts';

const source = join(projectRoot, 'src/console/pages');

/**
 * Maximum compressed size in bytes of the scripts and of the style of each document. A document without an entry does not build. `view`: the
 * view that it opens with, whose scripts count as its own.
 */
const budgets: Readonly<Record<string, { script: number; style: number; view?: string }>> = {
  docs: { script: 40_000, style: 8_000 },
  console: { script: 62_000, style: 8_000, view: 'chat' },
};

/** What another view of the console may load in addition, with the frame and the fields that all editors share, and all files together. */
const maxViewBytes = 13_300;
/** The code editor, which is loaded when its first field is seen. */
const maxEditorBytes = 110_000;
const maxTotalBytes = 330_000;
const maxGuideBytes = 300_000;

if (import.meta.main) {
  await runLocalScript(async () => void (await buildConsole(process.argv[2] ?? join(projectRoot, '.wrangler/console'))));
}

/** Adds files before it removes old ones: another process may be reading the folder. */
export async function buildConsole(directory: string): Promise<Metafile> {
  const assets = join(directory, 'assets');
  const folders = readdirSync(source);
  const pages = folders.filter((folder) => existsSync(join(source, folder, 'index.html')));
  const styled = folders.filter((folder) => folder !== budgets.console?.view && existsSync(join(source, folder, `${folder}.css`)));
  const { metafile } = await build({
    entryPoints: [
      { in: join(source, '../style/icon.svg'), out: 'icon' },
      ...pages.flatMap((page) => ['main.tsx', 'page.css'].map((file) => ({ in: join(source, page, file), out: page }))),
      ...styled.map((view) => ({ in: join(source, view, `${view}.css`), out: view })),
    ],
    loader: { '.svg': 'copy' },
    outdir: assets,
    ...bundleOptions,
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  });
  const styles = new Map(styled.map((view) => [view, outputOf(metafile, `pages/${view}/${view}.css`)]));
  for (const page of pages) writePage(directory, page, metafile, page === 'console' ? styles : new Map());
  const common = scriptsOf(metafile, 'console');
  for (const view of folders.filter((folder) => !pages.includes(folder) && folder !== budgets.console?.view)) {
    const added = withImports(metafile, outputOf(metafile, viewEntry(view))).filter((file) => !common.includes(file));
    const style = styles.get(view);
    check(`The scripts and style of /console/${view}`, style === undefined ? added : [...added, style], maxViewBytes);
  }
  const editor = withImports(metafile, outputOf(metafile, 'editor/open-editor.ts')).filter((file) => !common.includes(file));
  check('The scripts of the code editor', editor, maxEditorBytes);
  const all = Object.keys(metafile.outputs).filter((file) => /\.(?:js|css)$/.test(file));
  check('All files', all, maxTotalBytes);
  const guide = writeGuide(join(directory, 'guide'));
  const current = new Set([...Object.keys(metafile.outputs), ...guide].map((path) => basename(path)));
  for (const folder of [assets, join(directory, 'guide')])
    for (const file of readdirSync(folder)) if (!current.has(file)) rmSync(join(folder, file), { force: true });
  return metafile;
}

/** Returns the paths of the pages. */
function writeGuide(directory: string): string[] {
  mkdirSync(directory, { recursive: true });
  const files = [...readGuide()].map(([name, html]) => {
    const path = join(directory, `${name}.html`);
    replaceFile(path, html);
    return path;
  });
  check('The guide', files, maxGuideBytes);
  return files;
}

/**
 * The source refers to `/assets/docs.js`, the built page to `/assets/docs-<hash>.js`; so for styles and the icon. `styles`: those of views, which
 * are disabled, and thus not loaded, until their view is opened.
 */
function writePage(directory: string, page: string, metafile: Metafile, styles: ReadonlyMap<string, string>): void {
  const scripts = scriptsOf(metafile, page);
  const style = outputOf(metafile, `pages/${page}/page.css`);
  const icon = outputOf(metafile, 'style/icon.svg');
  const budget = budgets[page];
  if (budget === undefined)
    throw new StartFailure(`src/console/pages/${page} has no size budget. Add one to src/local/build/build-console.ts.`);
  check(`The scripts of /${page}`, scripts, budget.script);
  check(`The style of /${page}`, [style], budget.style);
  const html = readFileSync(join(source, page, 'index.html'), 'utf8')
    .replace(`/assets/${page}.js`, `/assets/${basename(scripts[0] ?? '')}`)
    .replace(
      '<!-- preload -->',
      [
        ...scripts.slice(1).map((file) => `<link rel="modulepreload" href="/assets/${basename(file)}">`),
        ...[...styles].map(([view, file]) => `<link rel="stylesheet" disabled data-view="${view}" href="/assets/${basename(file)}">`),
      ].join('\n'),
    )
    .replace(`/assets/${page}.css`, `/assets/${basename(style)}`)
    .replace('/assets/icon.svg', `/assets/${basename(icon)}`);
  mkdirSync(directory, { recursive: true });
  replaceFile(join(directory, `${page}.html`), html);
}

/** The script of a document first, then all that it loads to show its first view. */
function scriptsOf(metafile: Metafile, page: string): string[] {
  const view = budgets[page]?.view;
  const entries = [`pages/${page}/main.tsx`, ...(view === undefined ? [] : [viewEntry(view)])];
  return [...new Set(entries.flatMap((entry) => withImports(metafile, outputOf(metafile, entry))))];
}

function viewEntry(view: string): string {
  return `pages/${view}/${view}-page.tsx`;
}

/** `entry`: a path within `src/console/`. */
function outputOf(metafile: Metafile, entry: string): string {
  const path = `src/console/${entry}`;
  const found = Object.entries(metafile.outputs).find(([, { entryPoint, inputs }]) => entryPoint === path || Object.hasOwn(inputs, path));
  if (found === undefined) throw new StartFailure(`${path} does not exist.`);
  return found[0];
}

/** The script and all scripts that it imports before it runs. */
function withImports(metafile: Metafile, script: string): string[] {
  const found = new Set([script]);
  for (const path of found)
    for (const { path: imported, kind } of metafile.outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(imported);
  return [...found];
}

function check(what: string, files: readonly string[], maxBytes: number): void {
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(resolve(projectRoot, file))).length, 0);
  if (bytes > maxBytes)
    throw new StartFailure(`${what} have ${bytes} bytes after gzip; the budget is ${maxBytes} (src/local/build/build-console.ts).`);
  console.log(`${what}: ${bytes} bytes gzip (at most ${maxBytes})`);
}
