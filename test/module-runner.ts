/**
 * The modules of an isolate of the test runtime, which test files share. Each file gets new copies of those that remember what an earlier
 * one stored, and of its own; for new copies of all, as `vi.resetModules` makes, an isolate would run a thousand modules for each file.
 */

type LoadedModule = { importers: Set<string>; meta?: object; promise?: unknown; exports?: unknown; evaluated: boolean };
type ModuleRunner = {
  evaluatedModules: { idToModuleMap: ReadonlyMap<string, LoadedModule> };
  getModuleInformation(url: string, importer: string | undefined, known: LoadedModule | undefined): Promise<LoadedModule>;
};

// Vitest has no interface for this; in another version of it, the first access fails.
const runner = (globalThis as unknown as { __vitest_mocker__: { moduleRunner: ModuleRunner } }).__vitest_mocker__.moduleRunner;
const modules = runner.evaluatedModules.idToModuleMap;

/**
 * What lives as long as an isolate and comes from storage or from the servers of a test: the wiring with its caches, the objects, and the
 * APIs that servers were found to speak, and the launcher that knows the clock.
 */
const withMemory = /\/src\/(worker\.ts|objects\/|wiring\/|providers\/api-choice\.ts|platform\/settled-clock\.ts)|\/test\//;

/** The next imports of these modules, and of all that import them, run them again. */
export function forgetModulesWithMemory(): void {
  const forgotten = new Set<string>();
  const forget = (id: string): void => {
    const module = modules.get(id);
    if (module === undefined || forgotten.has(id) || id.includes('/node_modules/')) return;
    forgotten.add(id);
    for (const importer of module.importers) forget(importer);
    Object.assign(module, { promise: undefined, exports: undefined, evaluated: false });
    module.importers.clear();
  };
  for (const id of modules.keys()) if (withMemory.test(id)) forget(id);
}

/**
 * Each import of a module that is known asks the test runtime for it again, with a request to an object: seven thousand for the modules
 * of a file. They are answered here. The Workers tests mock no modules, which such a request would look for.
 */
export function rememberSources(): void {
  if (Object.hasOwn(runner, 'getModuleInformation')) return;
  const request = runner.getModuleInformation;
  runner.getModuleInformation = async (url, importer, known) =>
    known?.meta === undefined ? await request.call(runner, url, importer, known) : known;
}
