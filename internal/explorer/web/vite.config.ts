import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { licenses } from './licenses.ts'

// Two pages, each built by itself: --mode says which. OUT is where to, so that a test can
// compare what is built with what is committed.
export default defineConfig(({ mode }) => ({
  root: mode === 'test' ? '.' : mode,
  base: './', // relative to the base that the server writes into the document
  plugins: [svelte(), licenses()],
  test: { include: ['*/test/*.test.ts'] },
  build: {
    outDir: `${process.env.OUT ?? `${import.meta.dirname}/../dist`}/${mode}`,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
}))
