import { svelte } from '@sveltejs/vite-plugin-svelte'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { licenses } from './licenses.ts'

/** Lets the browser load the application, which main.ts imports as "start", together with main.ts. */
function preload(): Plugin {
  return {
    name: 'preload',
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle }) =>
        Object.values(bundle ?? {})
          .filter((file) => file.type === 'chunk' && file.isDynamicEntry && file.name === 'start')
          .map(({ fileName }) => ({ tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` }, injectTo: 'head' as const })),
    },
  }
}

// Two pages, each built by itself: --mode says which. OUT is where to, so that a test can
// compare what is built with what is committed.
export default defineConfig(({ mode }) => ({
  root: mode === 'test' ? '.' : mode,
  base: './', // relative to the base that the server writes into the document
  plugins: [svelte(), licenses(), preload()],
  test: { include: ['*/test/*.test.ts'] },
  build: {
    outDir: `${process.env.OUT ?? `${import.meta.dirname}/../dist`}/${mode}`,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: mode !== 'docs' && { polyfill: false }, // preload() does it for the reference
    cssCodeSplit: mode !== 'docs', // the document names the one style sheet of the reference
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
}))
