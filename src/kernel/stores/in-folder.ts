import { mustBeName, type ObjectStore } from './store.ts'

/** The objects of a store below a folder, under their names without it. */
export const inFolder = (store: ObjectStore, folder: string): ObjectStore => {
  const nameOf = (name: string) => `${folder}/${mustBeName(name)}`
  return {
    title: `${store.title}/${folder}`,
    put: (name, bytes) => store.put(nameOf(name), bytes),
    get: (name) => store.get(nameOf(name)),
    list: async (below) => (await store.list(nameOf(below))).map((name) => name.slice(folder.length + 1)),
    remove: (name) => store.remove(nameOf(name)),
    close: () => store.close(),
  }
}
