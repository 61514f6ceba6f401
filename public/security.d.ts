// security.js is served, not run here: imported as a file, so the import is a path.
declare const path: string
export default path
