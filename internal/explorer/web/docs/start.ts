import { mount } from 'svelte'
import '../explorer/style.css'
import './style.css'
import App from './App.svelte'
import { documents } from './lib/state.svelte'

void documents.load()
const show = () => mount(App, { target: document.body })
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', show)
else show()
