package resource

// withMemory runs a write of a program, which reserves memory as requests do if it writes many resources. Memory of a
// request is reserved until its response is sent: see Work.Reserve.
func (w *Work) withMemory(write *Write, run func() error) error {
	budget := w.resources.Memory
	if budget == nil || w.reserve != nil || !write.OfMany() {
		return run()
	}
	who := "program"
	if by := write.Path.By; by != nil {
		who = "caller:" + by.Caller.ID
	}
	held := budget.Begin(who, nil)
	defer func() {
		w.reserve = nil
		held.End()
	}()
	w.Reserve(budget.Most(), held.Take)
	return run()
}
