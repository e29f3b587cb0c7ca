package attack
var members, resources []row
func controls() []row { return nil }
func frames() []row { return nil }
