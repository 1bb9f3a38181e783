/**
 * Returns a function that loads a module when it is first needed, and has it at once from then on. Keeps the module and not the promise of it:
 * a promise that another object or request has made may not be awaited in the Workers runtime.
 */
export function lazyModule<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loaded: Module | null = null;
  return async () => {
    loaded ??= await load();
    return loaded;
  };
}
