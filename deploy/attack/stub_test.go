package attack
var members, resources []row
