/**
 * The environment of programs of servers: what programs need of the user's own, and nothing that may be a credential of this service. It is
 * as the user's shell has it: what a package manager added to start the launcher is removed.
 */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export type ProgramEnvironment = {
  variables: Record<string, string>;
  /** The working folder of programs whose document has none. */
  home: string;
};

/** Of the system, locales, proxies and certificates; where version managers and package runners have their files. */
const passedVariables =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_\w+|NODE_EXTRA_CA_CERTS|NODE_USE_(?:ENV_PROXY|SYSTEM_CA)|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE|(?:HTTPS?|NO|ALL)_PROXY|APPDATA|LOCALAPPDATA|HOMEDRIVE|HOMEPATH|USERNAME|USERPROFILE|SYSTEMDRIVE|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|TEMP|TMP|PROGRAM(?:DATA|FILES)|PROCESSOR_ARCHITECTURE|(?:NVM|FNM|DENO|PNPM)_(?:DIR|HOME)|(?:PYENV|NODENV)_ROOT|VOLTA_HOME|ASDF_(?:DATA_)?DIR|MISE_DATA_DIR|DOCKER_(?:HOST|CONFIG|CONTEXT))$/i;

/** Settings of `npx`, `uvx` and `pipx`, with the credentials of the registries that the user has set for them. */
const runnerVariables = /^(?:NPM_CONFIG_.+|UV_(?!PUBLISH_)\w+|PIPX?_\w+)$/i;

/**
 * What npm sets for the scripts of a package (`@npmcli/config/lib/set-envs.js`): it describes npm itself, its Node.js and the package, not
 * the user. A user's own setting usually has capital letters.
 */
const ofRunningNpm =
  /^npm_config_(?:local_prefix|global_prefix|prefix|globalconfig|init_module|node_gyp|nodedir|npm_version|user_agent|noproxy|loglevel|workspaces?|allow_scripts)$/;

/** `dataDir`: has a home for programs where the user's is missing or not writable, as in containers. */
export function programEnvironment(environment: NodeJS.ProcessEnv, dataDir: string): ProgramEnvironment {
  const isScript = environment.npm_lifecycle_event !== undefined;
  const variables = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const isPassed = passedVariables.test(name) || (runnerVariables.test(name) && !(isScript && ofRunningNpm.test(name)));
      // A value that begins with "()" is a function of bash.
      if (value === undefined || !isPassed || value.startsWith('()')) return [];
      return [[name, /^path$/i.test(name) ? userPath(value) : value]];
    }),
  );
  const given = writableHome(environment);
  if (given !== null) return { variables, home: given };
  const home = join(dataDir, 'home');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return { variables: { ...variables, HOME: home }, home };
}

/**
 * Removes the folders that npm, pnpm and Yarn put in front for a script: the binaries of the package and of the folders above it, last a
 * folder `node-gyp-bin` (`@npmcli/run-script/lib/set-path.js`), which no user has. They hold other programs than the user's, among them
 * another Node.js. Folders that the script itself has added stay.
 */
export function userPath(path: string): string {
  const folders = path.split(delimiter);
  const end = folders.findLastIndex((folder) => /[\\/]node-gyp-bin$/.test(folder));
  return folders.filter((folder, index) => index > end || !ofPackageManager.test(folder)).join(delimiter);
}

/** Yarn 1 adds a temporary folder, too. */
const ofPackageManager = /[\\/](?:node_modules[\\/]\.bin|node-gyp-bin|yarn--[\d.-]+)$/;

function writableHome({ HOME }: NodeJS.ProcessEnv): string | null {
  try {
    const home = process.platform === 'win32' ? homedir() : HOME || homedir();
    accessSync(home, constants.W_OK);
    return home;
  } catch {
    // The user has none, or it is missing, or only readable: for programs the same.
    return null;
  }
}
